#include "src/cli/keys.hpp"

#include <pawl/detail/rows.hpp>

#include "src/cli/read_rows.hpp"
#include "store/statements.hpp"

#include <utility>

namespace pawl::cli {

namespace {

using Text = std::optional<std::string>;

// The columns of show_key, in order.
struct KeyDetail {
    std::int64_t id{};
    std::string tenant;
    std::string account;
    std::string key;
    std::string operation;
    std::string method;
    std::string path;
    std::string origin;
    Json params;
    std::string status;
    int attempt{};
    Text lease_until;
    std::string recovery_point;
    Json recovery_data;
    int generation{};
    Text call_key;
    Text called_at;
    bool calling{};
    Text call_target;
    std::optional<int> response_status;
    Text response_type;
    std::optional<Json> response_headers;
    Text response_body;
    std::string created_at;
    std::string last_run_at;
    Text finished_at;
    Text expires_at;
    Text error;
    int completer_runs{};
    Text completer_first_at;
    Text completer_next_at;
    Text held_at;
    Text held_by;
    Text held_why;
    Json references;
    Json calls_not_made;
    Json history;
};

struct Done {
    std::int64_t id{};
    std::string done;
};

Line<KeyDetail> key_of(Service& service, std::int64_t id) {
    auto rows = read<KeyDetail>(service, sql::show_key, id);
    if (!rows.empty()) return std::move(rows.front());
    if (const auto expired = expired_key(service, id))
        throw CommandFailed{
            name_of(id) + " expired at " + expired->row.expired_at +
            ": it can't be changed any more; `keys show` has what is left of it"};
    no_such_key(id);
}

void print_done(
    std::ostream& out, bool json, std::int64_t id, std::string_view done, const std::string& text
) {
    if (json) return print_row(out, Done{id, std::string{done}}, true);
    out << text << '\n';
}

}  // namespace

std::string state_of_key(Service& service, std::int64_t id) {
    const auto key = key_of(service, id).row;
    return key.status + " at " + key.recovery_point;
}

void show_key(Service& service, const KeySelector& which, bool json, std::ostream& out) {
    const auto id = id_of(service, which);
    const auto rows = read<KeyDetail>(service, sql::show_key, id);
    if (!rows.empty()) return print_row(out, rows.front(), json);
    const auto expired = expired_key(service, id);
    if (!expired) no_such_key(id);
    print_row(out, *expired, json);
}

namespace {

// Why the act changed nothing.
std::string why_not(const KeyDetail& key, ops::KeyVerb verb) {
    const auto id = std::to_string(key.id);
    if (key.status == "finished")
        return "is finished: there is nothing to " + std::string{ops::name_of(verb)};
    if (key.held_at && verb != ops::KeyVerb::release && verb != ops::KeyVerb::hand_over)
        return "is held since " + *key.held_at + " by " + key.held_by.value_or("") + ": " +
               key.held_why.value_or("") + "; `keys release " + id + "` ends that";
    if (key.status == "attention" && verb == ops::KeyVerb::hand_over)
        return "is on the attention list";
    if (key.status == "attention" && verb == ops::KeyVerb::retry)
        return "needs a decision: keys settle " + id;
    if (verb == ops::KeyVerb::release) return "is not held";
    if (verb == ops::KeyVerb::hand_over)
        return "has an attempt at work until " + key.lease_until.value_or("its end") +
               ": hold it (`keys hold " + id + "`), and try again after that";
    return "has changed meanwhile: try again";
}

std::string text_of_act(const KeyDetail& key, ops::KeyVerb verb) {
    switch (verb) {
        case ops::KeyVerb::retry:
            return " will be tried by a running server's completer after its lease and the grace "
                   "time for its client; without a server, run `completer --once` then.";
        case ops::KeyVerb::hold:
            return " is held: no attempt begins, neither the completer's nor its client's, who "
                   "gets 503 `on-hold`. `keys release " +
                   std::to_string(key.id) + "` ends that." +
                   (key.lease_until ? " An attempt that was at work may still finish the request."
                                    : "");
        case ops::KeyVerb::hand_over:
            return " is on the attention list: `attention settle " + std::to_string(key.id) +
                   "` decides what becomes of it, and `keys retry` takes it back.";
        case ops::KeyVerb::release:
            break;
    }
    return " is not held any more: the completer or its client goes on with it.";
}

}  // namespace

void act_on_key(
    Service& service,
    ops::KeyVerb verb,
    const KeySelector& which,
    const queue::AuditEntry& act,
    bool json,
    std::ostream& out
) {
    const auto id = id_of(service, which);
    const auto key = key_of(service, id).row;
    const bool done = store::write_now(service.engine().store(), [&](store::Session& session) {
        return ops::act_on_key(session, verb, id, act);
    });
    if (!done) throw CommandFailed{name_of(id) + ' ' + why_not(key_of(service, id).row, verb)};
    print_done(out, json, id, ops::name_of(verb), name_of(id) + text_of_act(key, verb));
}

}  // namespace pawl::cli
