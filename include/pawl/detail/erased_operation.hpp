#pragma once

#include <pawl/detail/erased_step.hpp>
#include <pawl/detail/json.hpp>
#include <pawl/detail/json_schema.hpp>
#include <pawl/detail/settled_by.hpp>
#include <pawl/operation.hpp>
#include <pawl/query.hpp>
#include <pawl/tx.hpp>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

// Makes an operation without its types, as the engine drives it: erase_operation<Op>().
namespace pawl::detail {

// The name of a type without its namespaces, as the compiler prints it (see reflect.hpp): "Charge".
template <class T>
constexpr std::string_view type_name() {
    const std::string_view text = __PRETTY_FUNCTION__;
    const auto from = text.find("T = ") + 4;
    const auto to = text.find_first_of(";]", from);
    const auto whole = text.substr(from, to - from);
    const auto colon = whole.rfind(':');
    return colon == whole.npos ? whole : whole.substr(colon + 1);
}

template <class R>
constexpr std::string_view result_name() {
    if constexpr (requires {
                      { R::name } -> std::convertible_to<std::string_view>;
                  })
        return R::name;
    else
        return type_name<R>();
}

inline std::string text_of(const DecodeProblem& problem) {
    return problem.field.empty() ? problem.why : problem.field + ": " + problem.why;
}

template <class T>
Decoded decode_as(std::string_view json) {
    auto decoded = decode<T>(json);
    if (auto* problem = std::get_if<DecodeProblem>(&decoded)) return text_of(*problem);
    return ErasedValue{std::make_shared<const T>(std::move(std::get<T>(decoded)))};
}

template <class T>
const T& as(const void* anything) {
    return *static_cast<const T*>(anything);
}

template <class Flow, class... To>
StepOutcome moved(const Next<To...>& next) {
    return std::visit(
        []<class W>(const W& where) -> StepOutcome {
            if constexpr (std::same_as<W, Answer> || std::same_as<W, Refusal>)
                return where;
            else
                return ReachedPoint{Flow::template step_index<W>, std::make_shared<const W>(where)};
        },
        next.where()
    );
}

template <class... To>
void name_targets(std::vector<std::string_view>& names, List<To...>) {
    (names.push_back(To::name), ...);
}

// A step may always end the request; a step without points only does that.
template <class S>
void name_leads(ErasedStep& step) {
    name_targets(step.leads_to, typename S::To{});
    step.leads_to.emplace_back("finished");
}

template <class... R, class Refusal>
CallResult refusal_of(const TryNext<Refusal>& end) {
    static_assert(
        count_of<Refusal, R...> == 1,
        "pawl: TryNext<R> stands beside R among the results of its call, and R has a keeper"
    );
    return {index_of<Refusal, R...>(), std::make_shared<const Refusal>(end.refusal), true};
}

template <class Op, class S, class... R>
void fill_results(ErasedStep& step, List<R...>) {
    static_assert(
        ((result_name<R>().find_first_of("<>") == std::string_view::npos) && ...),
        "pawl: a result whose type is a template needs a `static constexpr std::string_view name`"
    );
    static_assert(
        all_different(std::array<std::string_view, sizeof...(R)>{result_name<R>()...}),
        "pawl: two results of a foreign call share a name: give one a `static constexpr "
        "std::string_view name`"
    );
    step.results = {ErasedResult{
        .name = result_name<R>(),
        .schema = &schema_text<R>,
        .encode = [](const void* value) { return encode(as<R>(value)); },
        .decode = &decode_as<R>}...};
    step.call = [](void* op, KeyedCall& call, const void* point) -> CallOutcome {
        using Taken = std::conditional_t<S::routed, RoutedCall, KeyedCall>;
        auto outcome =
            (static_cast<Op*>(op)->*S::run)(static_cast<Taken&>(call), as<typename S::From>(point));
        return std::visit(
            []<class E>(const E& end) -> CallOutcome {
                if constexpr (count_of<E, Retry, InDoubt, Stuck> == 1)
                    return end;
                else if constexpr (is_try_next<E>)
                    return refusal_of<R...>(end);
                else
                    return CallResult{index_of<E, R...>(), std::make_shared<const E>(end)};
            },
            outcome.value()
        );
    };
    if constexpr (std::tuple_size_v<decltype(S::inquiry)> == 1)
        step.inquire = [](void* op, InquiryCall& call, const void* point) -> InquiryOutcome {
            auto inquiry =
                (static_cast<Op*>(op)->*std::get<0>(S::inquiry))(call, as<typename S::From>(point));
            return std::visit(
                []<class E>(const E& end) -> InquiryOutcome {
                    if constexpr (count_of<E, NotFound, Undecided, Stuck> == 1)
                        return end;
                    else
                        return CallResult{index_of<E, R...>(), std::make_shared<const E>(end)};
                },
                inquiry.value()
            );
        };
    step.settled_by = settled_by_rule<Op, typename S::From, R...>();
    if constexpr (S::routed)
        step.route = [](void* op, const void* point) {
            return (static_cast<Op*>(op)->*S::route)(as<typename S::From>(point));
        };
    step.keep = [](void* op, Tx& tx, const void* point, const CallResult& arrival) -> StepOutcome {
        StepOutcome result{};
        // The one keeper for the result at this index.
        auto keep_one = [&]<class K>(K keeper) {
            using Result = typename KeepOf<K>::Result;
            if (index_of<Result, R...>() != arrival.result) return;
            result = moved<typename Op::Flow>((static_cast<Op*>(op)->*keeper)(
                tx, as<typename S::From>(point), as<Result>(arrival.value.get())
            ));
        };
        std::apply([&](auto... keeper) { (keep_one(keeper), ...); }, S::keepers);
        return result;
    };
}

template <class Op, class Point>
concept CallsAbandon = requires(Op op, Tx& tx, const Point& at) {
    op.abandon(tx, at);
}
|| requires(Op op, Tx& tx, const Point& at, const Abandoned& why) {
    op.abandon(tx, at, why);
};
template <class Op, class Point>
concept Abandons = requires(Op op, Tx& tx, const Point& at, const Abandoned& why) {
    { op.abandon(tx, at, why) } -> std::same_as<Finish>;
};

// The one of a base class may be for another operation's points.
template <class Op, class... S>
constexpr bool abandon_is_of_use(const std::tuple<S...>*) {
    if constexpr (((S::foreign && CallsAbandon<Op, typename S::From>) || ...))
        return true;
    else if constexpr (requires { &Op::abandon; })
        return !std::same_as<typename Member<decltype(&Op::abandon)>::Class, Op>;
    else
        return !has_abandon<Op>;
}

template <class Op, class Point>
concept AsksCallTarget = requires(const Op& op, const Point& at) {
    { op.call_target(at) } -> std::same_as<std::string>;
};
// It must be for a call of this operation; a base class may have others.
template <class Op, class... S>
constexpr bool call_target_is_of_use(const std::tuple<S...>*) {
    if constexpr (((S::foreign && AsksCallTarget<Op, typename S::From>) || ...))
        return true;
    else if constexpr (requires { &Op::call_target; })
        return !std::same_as<typename Member<decltype(&Op::call_target)>::Class, Op>;
    else
        return !has_call_target<Op>;
}

template <class Op, class S>
ErasedStep erase_step() {
    using From = typename S::From;
    ErasedStep step;
    step.from = From::name;
    step.foreign = S::foreign;
    step.may_refuse = S::may_refuse;
    name_leads<S>(step);
    if constexpr (!is_started<From>) {
        step.schema = &schema_text<From>;
        step.encode = [](const void* point) { return encode(as<From>(point)); };
        step.decode = &decode_as<From>;
    }
    if constexpr (S::foreign) {
        step.again = S::again;
        fill_results<Op, S>(step, typename S::Form::Results{});
        static_assert(
            Abandons<Op, From> || !CallsAbandon<Op, From>,
            "pawl: abandon is a member function Finish abandon(Tx&, const Point&, const "
            "Abandoned&)"
        );
        if constexpr (AsksCallTarget<Op, From>)
            step.call_target = [](const void* op, const void* point) {
                return static_cast<const Op*>(op)->call_target(as<From>(point));
            };
        if constexpr (Abandons<Op, From>)
            step.abandon = [](void* op, Tx& tx, const void* point, const Abandoned& why) {
                auto end = static_cast<Op*>(op)->abandon(tx, as<From>(point), why);
                return std::get<Answer>(end.where());
            };
    } else {
        step.run = [](void* op, Tx& tx, const void* point) {
            return moved<typename Op::Flow>((static_cast<Op*>(op)->*S::run)(tx, as<From>(point)));
        };
    }
    return step;
}

template <class Op, class... S>
void fill_steps(ErasedOperation& form, const std::tuple<S...>*) {
    form.steps = {erase_step<Op, S>()...};
}

template <class Flow, FixedString Old, class Now>
void add_renamed_point(ErasedOperation& form, const Renamed<Old, Now>*) {
    static_assert(
        Flow::template step_index<Now> < Flow::count,
        "pawl: RenamedPoints names a point that no step starts from"
    );
    form.renamed.emplace_back(Old.view(), Flow::template step_index<Now>);
}
template <class Flow, FixedString Old>
void add_renamed_point(ErasedOperation& form, const Removed<Old>*) {
    form.dropped.push_back(Removed<Old>::old);
}
template <class Flow, class... Names>
void add_renamed_points(ErasedOperation& form, const RenamedPoints<Names...>*) {
    (add_renamed_point<Flow>(form, static_cast<const Names*>(nullptr)), ...);
}

template <class R>
concept AsksProblem = requires(const R& request) {
    { request.problem() } -> std::same_as<std::optional<std::string>>;
};

// A field may be named so, too.
template <class R>
constexpr bool problem_is_right() {
    if constexpr (requires { &R::problem; })
        return AsksProblem<R> || !std::is_member_function_pointer_v<decltype(&R::problem)>;
    return true;
}

template <class R>
std::variant<ErasedValue, DecodeProblem> checked_request(R request) {
    static_assert(
        problem_is_right<R>(),
        "pawl: a request checks itself in std::optional<std::string> problem() const"
    );
    static_assert(
        !almost_problem<R>,
        "pawl: a function of this request is named almost like `problem`, and would be ignored"
    );
    if constexpr (AsksProblem<R>) {
        if (auto why = request.problem()) return DecodeProblem{.field = {}, .why = std::move(*why)};
    }
    return ErasedValue{std::make_shared<const R>(std::move(request))};
}

template <class R>
std::variant<ErasedValue, DecodeProblem> checked_request(std::variant<R, DecodeProblem> decoded) {
    if (auto* problem = std::get_if<DecodeProblem>(&decoded)) return std::move(*problem);
    return checked_request<R>(std::move(std::get<R>(decoded)));
}

template <class R>
std::variant<ErasedValue, DecodeProblem> request_of(const RequestFields& fields) {
    return checked_request<R>(decode_request<R>(fields));
}

template <class R>
std::variant<ErasedValue, DecodeProblem> request_of(std::string_view json) {
    return checked_request<R>(decode<R>(json, Unknown::refused, Nul::refused));
}

template <class Op>
void fill_settings(ErasedOperation& form) {
    form.name = Op::name;
    form.settings = settings_of<Op>();
    if constexpr (requires { typename Op::RenamedPoints; })
        add_renamed_points<typename Op::Flow>(
            form, static_cast<const typename Op::RenamedPoints*>(nullptr)
        );
}

template <class Op, class Request>
concept LooksBeforeKey =
    requires(Op op, Snapshot& read, const Asked<Request>& at, std::string_view key) {
    { op.before_key(read, at, key) } -> std::same_as<std::optional<Response>>;
};

template <class Op>
constexpr bool before_key_is_right() {
    return !has_before_key<Op> || LooksBeforeKey<Op, typename Op::Flow::First::Request>;
}

template <class Op>
void fill_before_key(ErasedOperation& form) {
    using Request = typename Op::Flow::First::Request;
    static_assert(
        before_key_is_right<Op>(),
        "pawl: before_key is a public member function std::optional<Response> "
        "before_key(Snapshot&, "
        "const Asked<Request>&, std::string_view key)"
    );
    if constexpr (LooksBeforeKey<Op, Request>) {
        static_assert(
            settings_of<Op>().key != KeyRule::none,
            "pawl: before_key comes before the key, and this operation has none: its phase refuses"
        );
        form.before_key = [](void* op, Snapshot& read, const AskedWith& with, const void* request) {
            return static_cast<Op*>(op)->before_key(
                read, Asked<Request>{with.principal, with.origin, as<Request>(request)}, with.key
            );
        };
    }
}

// What the concept Operation requires, with a sentence for each.
template <class Op>
constexpr bool explain_operation() {
    constexpr bool has_name = requires {
        { Op::name } -> std::convertible_to<std::string_view>;
    };
    constexpr bool has_flow = requires {
        typename Op::Flow;
    };
    static_assert(
        has_name,
        "pawl: an operation has a public `static constexpr std::string_view name`, under which its "
        "requests are stored"
    );
    static_assert(
        has_flow, "pawl: an operation has a public `using Flow = pawl::Steps<...>` with its steps"
    );
    if constexpr (has_name && has_flow)
        return check_operation<Op>();
    else
        return false;
}

template <class Op>
ErasedOperation erase_operation(std::shared_ptr<Op> op) {
    using First = typename Op::Flow::First;
    using Request = typename First::Request;
    ErasedOperation form;
    static_assert(
        abandon_is_of_use<Op>(static_cast<const typename Op::Flow::All*>(nullptr)),
        "pawl: abandon is a member function Finish abandon(Tx&, const Point&, const Abandoned&), "
        "of a point that a foreign call starts from"
    );
    static_assert(
        call_target_is_of_use<Op>(static_cast<const typename Op::Flow::All*>(nullptr)),
        "pawl: call_target is a member function std::string call_target(const Point&) const, of a "
        "point that a foreign call starts from"
    );
    static_assert(
        settled_by_is_of_use<Op>(static_cast<const typename Op::Flow::All*>(nullptr)),
        "pawl: settled_by is a member function std::optional<Result> settled_by(const Point&, "
        "const "
        "ProviderEvent&) const, of a point that a foreign call starts from"
    );
    form.op = std::move(op);
    fill_settings<Op>(form);
    fill_steps<Op>(form, static_cast<const typename Op::Flow::All*>(nullptr));
    form.request = &request_of<Request>;
    if constexpr (Record<Request>) {  // Otherwise request_of() explains what is wrong.
        form.headers = header_names<Request>();
        form.schema = &request_schema<Request>;
    }
    fill_before_key<Op>(form);
    form.encode_request = [](const void* request) { return encode(as<Request>(request)); };
    form.decode_request = &decode_as<Request>;
    form.start = [](const StartedWith& with, const void* request) -> ErasedValue {
        return std::make_shared<const First>(First{
            .key_id = with.key_id,
            .principal = with.principal,
            .origin = with.origin,
            .key = with.key,
            .request = as<Request>(request)});
    };
    return form;
}

}  // namespace pawl::detail

namespace pawl {

// All checks of an operation, each with a sentence. Below the class it reports mistakes at that
// line, before any service adds it:
//
//   static_assert(pawl::checked<BookRide>());
template <class Op>
constexpr bool checked() {
    static_assert(
        std::is_move_constructible_v<Op>,
        "pawl: a service takes an operation by value: hold what can't be moved by reference"
    );
    if constexpr (detail::explain_operation<Op>()) {
        // Its body has the other checks.
        [[maybe_unused]] constexpr auto erase = &detail::erase_operation<Op>;
        return true;
    }
    return false;
}

}  // namespace pawl
