#pragma once

#include <pawl/call.hpp>
#include <pawl/detail/erased_operation.hpp>
#include <pawl/detail/json_schema.hpp>
#include <pawl/job.hpp>
#include <pawl/tx.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

// A job handler without its types, as the worker drives it.
namespace pawl::detail {

template <class Result, class Parameters>
struct WorkParts {
    static constexpr bool valid = false;
};
template <class R, class In, class A>
requires((std::same_as<R, void> || std::same_as<R, JobResult>)&&(std::same_as<In, Tx> || std::same_as<In, Call> || std::same_as<In, KeyedCall>)&&JobArgs<
         A>) struct WorkParts<R, List<In&, const Job<A>&>> {
    static constexpr bool valid = true;
    static constexpr bool in_transaction = std::same_as<In, Tx>;
    using Args = A;
    using Result = R;
};
template <class F>
using WorkSignature = WorkParts<typename Member<F>::Result, typename Member<F>::Parameters>;

// A job from the queue, with its arguments as text.
struct RawJob {
    std::string jid;
    std::string args;
    int attempt{1};
    std::optional<std::int64_t> key_id;
    TimePoint created_at{};
    std::optional<TimePoint> first_failed_at;
    std::optional<TimePoint> last_failed_at;
    std::optional<std::string> last_error;
    std::string origin;
};

struct NotDecoded {
    std::string why;
};
using Worked = std::variant<JobResult, NotDecoded>;

struct ErasedJob {
    KindOfJob settings;
    bool in_transaction{};  // Its writes and the mark that the job is done commit together.
    std::shared_ptr<void> handler;
    // The arguments; why they do not decode. They may be another program's, so they are never
    // decoded in a transaction.
    Decoded (*decode)(std::string_view args){};
    std::string (*schema)(){};  // JSON Schema of the arguments, for `points`.
    Worked (*in_tx)(void* handler, Tx& tx, const RawJob& job, const void* args){};
    Worked (*in_call)(void* handler, KeyedCall& call, const RawJob& job){};
};

template <class Args>
Job<Args> job_of(const RawJob& raw, Args args) {
    return {
        .args = std::move(args),
        .id = raw.jid,
        .attempt = raw.attempt,
        .key_id = raw.key_id,
        .created_at = raw.created_at,
        .first_failed_at = raw.first_failed_at,
        .last_failed_at = raw.last_failed_at,
        .last_error = raw.last_error,
        .origin = raw.origin};
}

template <class H, class In>
Worked work_on(void* handler, In& in, const RawJob& raw, const void* args) {
    using Form = WorkSignature<decltype(&H::work)>;
    const auto job = job_of(raw, as<typename Form::Args>(args));
    if constexpr (std::same_as<typename Form::Result, void>) {
        static_cast<H*>(handler)->work(in, job);
        return JobResult{done};
    } else {
        return static_cast<H*>(handler)->work(in, job);
    }
}

template <class H>
Worked work_in_call(void* handler, KeyedCall& call, const RawJob& raw) {
    using Form = WorkSignature<decltype(&H::work)>;
    const auto decoded = decode_as<typename Form::Args>(raw.args);
    if (const auto* why = std::get_if<std::string>(&decoded)) return NotDecoded{*why};
    return work_on<H>(handler, call, raw, std::get<ErasedValue>(decoded).get());
}

template <class H>
ErasedJob erase_job(std::shared_ptr<H> handler) {
    using Form = WorkSignature<decltype(&H::work)>;
    ErasedJob form;
    form.settings = kind_of_job<typename Form::Args>();
    form.in_transaction = Form::in_transaction;
    form.handler = std::move(handler);
    form.decode = &decode_as<typename Form::Args>;
    form.schema = &schema_text<typename Form::Args>;
    if constexpr (Form::in_transaction)
        form.in_tx = &work_on<H, Tx>;
    else
        form.in_call = &work_in_call<H>;
    return form;
}

// An operation that serves jobs: the job's id is its key.
template <class Op>
concept JobOperation = JobArgs<typename Op::Flow::First::Request>;

}  // namespace pawl::detail

namespace pawl {

// `JobResult work(Tx&, const Job<Args>&)`, or with Call& or KeyedCall&; void means done.
template <class H>
concept JobHandler = requires {
    &H::work;
    requires detail::WorkSignature<decltype(&H::work)>::valid;
};

}  // namespace pawl
