#pragma once

#include <pawl/detail/json.hpp>
#include <pawl/principal.hpp>
#include <pawl/tx.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace pawl {

using namespace std::chrono_literals;

// The result that the first run in a window has stored.
template <class R>
struct Once {
    R value{};
    bool first{};  // This run was the first.
};

// Handles a double click that arrives under two keys: the same action of the same account within a
// time after the first is one action. The first runs it, the others get its stored result, such as
// the id of what it created. The window begins with the first and is not prolonged.
//
//   static constexpr pawl::OncePerWindow order{.action = "order", .window = 5s};
//
//   const auto ride = order.run(tx, at.principal, at.request.target, [&] {
//       return pawl::query_one<RideId>(tx, sql::insert_ride, ...);
//   });
//   if (!ride.first) return pawl::answer(200, ride.value);   // Its own answer is on its way.
//
// Times are the database's. Of two concurrent runs one is first, at every isolation and on every
// store: the other waits for its commit, and may run again. If the first one's phase
// is rolled back, so is the window; also if f throws, even if the phase goes on.
struct OncePerWindow {
    std::string_view action;               // 1 to 200 bytes: a stored name.
    std::chrono::milliseconds window{5s};  // 1 ms to 24 h.

    // `about` distinguishes actions that may well come twice, for example by the article; its hash
    // is stored. f runs in `tx` and returns the result to store, of any type with a JSON form: at
    // most 64 KiB. Throws std::invalid_argument beyond these limits, StoreError, and what f throws.
    template <class F>
    auto run(Tx& tx, const Principal& who, std::string_view about, F f) const {
        using R = std::remove_cvref_t<std::invoke_result_t<F&>>;
        auto place = open(tx, who, about);
        if (!place.first) return Once<R>{decoded<R>(place.result), false};
        try {
            Once<R> first{f(), true};
            store(tx, place, detail::encode(first.value));
            return first;
        } catch (...) {
            close(tx, place);
            throw;
        }
    }
    template <class F>
    auto run(Tx& tx, const Principal& who, F f) const {
        return run(tx, who, {}, std::move(f));
    }

private:
    struct Place {
        std::string hash;
        bool first{};
        std::string result;  // As JSON, if it was not the first.
    };
    Place open(Tx& tx, const Principal& who, std::string_view about) const;
    void store(Tx& tx, const Place& place, const std::string& result) const;
    static void close(Tx& tx, const Place& place) noexcept;
    [[noreturn]] void throw_of_another_type(std::string_view why) const;

    template <class R>
    R decoded(const std::string& text) const {
        auto value = detail::decode<R>(text);
        if (const auto* problem = std::get_if<DecodeProblem>(&value))
            throw_of_another_type(problem->why);
        return std::get<R>(std::move(value));
    }
};

}  // namespace pawl
