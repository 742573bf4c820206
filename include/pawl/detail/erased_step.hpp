#pragma once

#include <pawl/call.hpp>
#include <pawl/detail/json_schema.hpp>
#include <pawl/detail/settled_by.hpp>
#include <pawl/inquiry.hpp>
#include <pawl/operation.hpp>
#include <pawl/router.hpp>
#include <pawl/tx.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// An operation without its types, as the engine drives it: erased_operation.hpp makes it.
namespace pawl::detail {

using ErasedValue =
    std::shared_ptr<const void>;  // A point, request or result; shared by the attempt's steps.

// Where a step led: to the end, or to the step that starts from the reached point.
struct ReachedPoint {
    std::size_t step{};
    ErasedValue point{};
};
using StepOutcome = std::variant<Answer, Refusal, ReachedPoint>;

// A named result of a foreign call, by its index among the call's results.
struct CallResult {
    std::size_t result{};
    ErasedValue value{};
    bool try_next{};  // A refusal, which another provider may not repeat: TryNext.
};
using CallOutcome = std::variant<Retry, InDoubt, Stuck, CallResult>;
using InquiryOutcome = std::variant<NotFound, Undecided, Stuck, CallResult>;

using Decoded = std::variant<ErasedValue, std::string>;  // Or why it does not decode.

using SchemaOf = std::string (*)();  // JSON Schema of a stored type, for `points`.

struct ErasedResult {
    std::string_view name;
    SchemaOf schema{};
    std::string (*encode)(const void*){};
    Decoded (*decode)(std::string_view json){};
};

struct ErasedStep {
    std::string_view from;
    bool foreign{};
    bool may_refuse{};  // It runs in a savepoint.
    Repeat again{Repeat::safe};
    SchemaOf schema{};  // Of the point; nullptr: the start, as the next two.
    std::string (*encode)(const void* point){};
    Decoded (*decode)(std::string_view json){};
    StepOutcome (*run)(void* op, Tx& tx, const void* point){};  // Atomic phases only.
    // Foreign calls only, as the next two. Tests replace it.
    std::function<CallOutcome(void* op, KeyedCall& call, const void* point)> call{};
    StepOutcome (*keep)(void* op, Tx& tx, const void* point, const CallResult& arrival){};
    // nullptr: the call has none.
    InquiryOutcome (*inquire)(void* op, InquiryCall& call, const void* point){};
    // nullptr: the call has one provider. Otherwise `call` needs a RoutedCall.
    Routing (*route)(void* op, const void* point){};
    // The call target; nullptr: the operation names none.
    std::string (*call_target)(const void* op, const void* point){};
    SettledByRule settled_by{};  // nullptr: no event of the provider settles the call.
    // nullptr: the operation has none.
    Answer (*abandon)(void* op, Tx& tx, const void* point, const Abandoned& why){};
    std::vector<ErasedResult> results;
    std::vector<std::string_view> leads_to;  // Names of points; "finished" for a response.
};

struct StartedWith {
    std::int64_t key_id{};
    Principal principal;
    std::string origin;
    std::string key{};
};

// The request before its key is queried.
struct AskedWith {
    Principal principal;
    std::string origin;
    std::string_view key;
};

struct ErasedOperation {
    std::string_view name;
    Settings settings{};
    std::vector<ErasedStep> steps;
    // Old name of a point, and its current step.
    std::vector<std::pair<std::string_view, std::size_t>> renamed;
    std::vector<std::string_view> dropped;
    std::vector<std::string_view> headers;   // Those that the request asks for.
    std::vector<FieldSchema> (*schema)(){};  // Of the request, for its description.
    std::shared_ptr<void> op;                // Shared by all running attempts.

    // Builds the request from its fields and checks problem().
    std::variant<ErasedValue, DecodeProblem> (*request)(const RequestFields&){};
    std::string (*encode_request)(const void* request){};
    Decoded (*decode_request)(std::string_view json){};
    ErasedValue (*start)(const StartedWith&, const void* request){};  // Makes the Started<Request>.
    // nullptr: the operation has none.
    std::optional<Response> (*before_key
    )(void* op, Snapshot& read, const AskedWith& with, const void* request){};

    // The step that starts from a stored name, also an old one; nullopt: it is unknown.
    std::optional<std::size_t> step_from(std::string_view stored) const;
};

}  // namespace pawl::detail
