"""Loaded by Schemathesis, in the environment of openapi_cases."""
import schemathesis


@schemathesis.hook
def filter_case(context, case):
    """Leaves out a number as a string header. The sent text, "0.5", is a valid key, but Schemathesis 4.32.5 expects that it is refused."""
    data = case.meta.phase.data
    return not (getattr(data, 'description', None) == 'Incorrect type' and data.parameter == 'Idempotency-Key')
