#pragma once

#include <pawl/detail/session.hpp>

#include "src/base/random.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::page {

// A person who is signed in, in one browser.
struct Session {
    std::string id;
    std::string name;
    std::string token_hash;  // The operator's when it began: another token ends it.
    std::string form_token;  // In each form; another site does not know it.
    TimePoint began{};
    TimePoint used{};
    std::string message{};  // Of the last act, for the next page.
};

// In memory: after a restart everybody signs in again. Thread-safe.
class Sessions {
public:
    static constexpr auto idle_max = std::chrono::minutes{30};
    static constexpr auto age_max = std::chrono::hours{12};
    static constexpr std::size_t count_max = 1'000;  // Beyond it, the one unused for longest ends.

    // Likewise, of one operator.
    static constexpr std::size_t of_name_max = 20;

    explicit Sessions(base::Random& random) : random_{random} {}

    Session begin(std::string name, std::string token_hash, TimePoint now);
    // Counts as a use; takes the message away. nullopt: unknown, or over.
    std::optional<Session> find(std::string_view id, TimePoint now);
    void tell(std::string_view id, std::string message);
    void end(std::string_view id);
    std::string name_of(std::string_view id);  // Without a use; empty: unknown.

private:
    void make_room(std::string_view name);

    base::Random& random_;
    std::mutex mutex_;
    std::map<std::string, Session, std::less<>> sessions_;
};

}  // namespace pawl::page
