#include "src/redis/failure.hpp"

#include <algorithm>
#include <array>

namespace pawl::redis {

namespace {

using Kind = StoreError::Kind;
using Effect = StoreError::Effect;

struct KnownError {
    std::string_view word;
    Failure failure;
};

// Redis answers each of these before the command or script changes anything.
constexpr std::array known_errors{
    KnownError{"OOM", {Kind::full, Effect::none, "; raise maxmemory, or work the jobs off"}},
    KnownError{
        "MISCONF", {Kind::full, Effect::none, "; Redis can't write its snapshot to the disk"}},
    KnownError{
        "READONLY", {Kind::unavailable, Effect::none, "; it is a replica: name the primary"}},
    KnownError{"NOREPLICAS", {Kind::unavailable, Effect::none, ""}},
    KnownError{"LOADING", {Kind::unavailable, Effect::none, ""}},
    KnownError{"MASTERDOWN", {Kind::unavailable, Effect::none, ""}},
    KnownError{"BUSY", {Kind::unavailable, Effect::none, "; another client's script is running"}},
    KnownError{"TRYAGAIN", {Kind::unavailable, Effect::none, ""}},
    KnownError{"CLUSTERDOWN", {Kind::unavailable, Effect::none, ""}},
    KnownError{
        "MOVED", {Kind::statement, Effect::none, "; Sidekiq's keys do not fit a Redis Cluster"}},
    KnownError{"NOAUTH", {Kind::unavailable, Effect::none, "; put user and password into the URL"}},
    KnownError{"WRONGPASS", {Kind::unavailable, Effect::none, "; user or password are wrong"}},
    KnownError{"NOPERM", {Kind::unavailable, Effect::none, "; the user needs more rights (ACL)"}},
};

std::string_view first_word(std::string_view error) {
    return error.substr(0, error.find(' '));
}

}  // namespace

Failure failure_of(std::string_view error) {
    const auto word = first_word(error);
    const auto* const found =
        std::find_if(known_errors.begin(), known_errors.end(), [&](const KnownError& k) {
            return k.word == word;
        });
    if (found != known_errors.end()) return found->failure;
    // Redis up to 5 answers this for a wrong password, and for one that it does not expect.
    if (error.find("password") != error.npos)
        return {Kind::unavailable, Effect::none, "; user or password are wrong"};
    // A script that fails midway keeps the writes it made.
    return {Kind::statement, Effect::in_doubt, ""};
}

bool is_unknown_script(std::string_view error) {
    return first_word(error) == "NOSCRIPT";
}

bool is_forbidden(std::string_view error) {
    return first_word(error) == "NOPERM" || error.starts_with("ERR unknown command");
}

}  // namespace pawl::redis
