#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// W3C Trace Context (https://www.w3.org/TR/trace-context/, level 2):
//
//   traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//                version, trace id, span id, flags; bit 0 of the flags says that the trace is
//                recorded
//   tracestate:  vendor=value,other=value
namespace pawl::core {

// A place in a trace: the span under which the next spans hang.
class TraceContext {
public:
    static constexpr std::size_t length = 55;

    // nullopt: the header is malformed, and a new trace begins. A later version is read as far as
    // this one knows it, and sent on as version 00.
    static std::optional<TraceContext> from_headers(
        std::string_view traceparent, std::string_view tracestate = {}
    );
    // As text() wrote it.
    static std::optional<TraceContext> from_text(std::string_view text);
    // A new trace. `ratio` of all trace ids is recorded: every server decides alike for one id.
    static TraceContext root(
        const std::array<std::uint64_t, 2>& trace_id, std::uint64_t span_id, double ratio
    );
    TraceContext child(std::uint64_t span_id) const;

    std::string_view traceparent() const { return {parent_.data(), length}; }
    std::string_view trace_id() const { return traceparent().substr(3, 32); }
    std::string_view span_id() const { return traceparent().substr(36, 16); }
    bool sampled() const { return parent_[length - 1] == '1'; }
    // Within its limits; empty: none, or it was malformed.
    const std::string& tracestate() const { return state_; }
    // For a column: the traceparent, and after a space the tracestate, if there is one.
    std::string text() const;

    friend bool operator==(const TraceContext&, const TraceContext&) = default;

private:
    TraceContext() = default;

    std::array<char, length> parent_{};
    std::string state_;
};

// The header as it may be sent on: at most 32 members and 512 characters, of which the long members
// are dropped first, then the last ones. Empty: it is malformed.
std::string limited_tracestate(std::string_view tracestate);

}  // namespace pawl::core
