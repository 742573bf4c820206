"""Parses OTLP requests (one JSON text a line of the standard input) by OpenTelemetry's own protobuf schema.

It runs in an environment that has opentelemetry-proto. OTLP's JSON has ids in hex, where the mapping of protobuf has base64.
Prints the number of spans; ends with 1 at the first request that the schema does not know.
"""
import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = ('traceId', 'spanId', 'parentSpanId')


def with_base64_ids(value):
    if isinstance(value, list):
        return [with_base64_ids(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: base64.b64encode(bytes.fromhex(one)).decode() if name in IDS else with_base64_ids(one) for name, one in value.items()}


def main():
    count = 0
    for line in sys.stdin:
        request = json_format.ParseDict(with_base64_ids(json.loads(line)), ExportTraceServiceRequest(), ignore_unknown_fields=False)
        for of_resource in request.resource_spans:
            for of_scope in of_resource.scope_spans:
                for span in of_scope.spans:
                    assert len(span.trace_id) == 16 and len(span.span_id) == 8 and len(span.parent_span_id) in (0, 8), span
                    assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, span
                    count += 1
    print(count)


if __name__ == '__main__':
    main()
