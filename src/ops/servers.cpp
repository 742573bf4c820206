#include "src/ops/servers.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/log.hpp"
#include "src/ops/rounds.hpp"
#include "src/store/blocking.hpp"
#include "store/statements.hpp"

#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace pawl::ops {

using detail::column_as;
using detail::execute_statement;
using detail::Row;

namespace {

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// A beat must not wait behind other works.
template <class F>
auto write_first(store::Store& store, F f) {
    return store::run_and_wait(
        [&store](std::unique_ptr<store::Work> w) {
            store.write(std::move(w), store::Urgency::first);
        },
        f
    );
}

core::ServerRow server_row(const Row& row) {
    const auto& of = sql::find_other_servers.name;
    return {
        .id = row.integer(0),
        .beats = row.integer(1),
        .session_lock = column_as<std::optional<std::int64_t>>(row, 2, of)};
}

// nullopt: the server lives, or another one has ended it.
std::optional<EndedServer> end_server(
    store::Session& session, const core::SilentServer& silent, std::chrono::milliseconds grace
) {
    const auto& [id, beats, lock] = silent.row;
    if (silent.only_if_lock_is_free && !session.try_lock_name(lock.value())) return std::nullopt;
    if (execute_statement(session, sql::delete_silent_server, id, beats) == 0) return std::nullopt;
    const auto now = session.now();
    return EndedServer{
        .keys = execute_statement(session, sql::end_leases_of_server, id, now, now - grace - 1ms),
        .jobs = execute_statement(session, sql::rescue_jobs_of_server, id, now),
        .staged_jobs = execute_statement(session, sql::release_staged_jobs_of_server, id)};
}

}  // namespace

Servers::Servers(store::Store& store, base::Clock& clock, ServersOptions options)
    : store_{store}, clock_{clock}, options_{options}, watch_{options.times} {}

void Servers::start() {
    id_ = write_first(store_, [&](store::Session& session) {
        return detail::read_row(
            session,
            sql::insert_server,
            detail::first_number,
            host_name(),
            options_.version,
            session.now(),
            store_.session_lock()
        );
    });
    store_.set_server(id_);
}

// False: another server has ended this one.
bool Servers::beat() {
    return write_first(store_, [&](store::Session& session) {
        return execute_statement(
                   session, sql::beat, id_.value(), session.now(), store_.session_lock()
               ) > 0;
    });
}

void Servers::run_once() {
    try {
        if (!beat()) {
            const auto ended = id_;
            start();
            log::warning(
                "server_was_cut_off",
                {{"server", ended.value()},
                 {"now", id_.value()},
                 {"detail", "others saw no beat of this server, and have ended its leases"}}
            );
        }
        look();
    } catch (...) {
        watch_.look_failed(clock_.steady());
        throw;
    }
}

void Servers::look() {
    const auto others = store::read_now(store_, [&](store::Session& session) {
        return detail::read_rows(session, sql::find_other_servers, server_row, id_.value());
    });
    for (const auto& silent : watch_.look(others, clock_.steady())) end(silent);
}

void Servers::end(const core::SilentServer& silent) {
    const auto ended = store::write_now(store_, [&](store::Session& session) {
        return end_server(session, silent, options_.complete_after);
    });
    if (!ended) return;
    log::warning(
        "server_ended",
        {{"server", silent.row.id},
         {"silent_ms", silent.silent_for.count()},
         {"keys", ended->keys},
         {"jobs", ended->jobs},
         {"staged_jobs", ended->staged_jobs}}
    );
    if (on_ended_) on_ended_(*ended);
}

void Servers::run(const std::stop_token& stop) {
    rounds(stop, clock_, options_.times.beat_every, "servers", [this](TimePoint) {
        run_once();
        return false;
    });
}

void Servers::leave() {
    store_.set_server(std::nullopt);
    write_first(store_, [&](store::Session& session) {
        execute_statement(session, sql::delete_server, id_.value());
    });
}

}  // namespace pawl::ops
