#include "src/store/postgres/connection.hpp"

#include "src/base/url.hpp"
#include "src/store/postgres/failure.hpp"
#include "src/store/postgres/parameters.hpp"
#include "src/store/postgres/sql_text.hpp"
#include "src/store/postgres/type_ids.hpp"
#include "src/store/store.hpp"
#include "store/postgres/session.hpp"

#include <poll.h>
#include <postgresql/libpq-fe.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace pawl::postgres {

namespace {

using Kind = StoreError::Kind;
using Effect = StoreError::Effect;
using detail::Value;

// How long to wait on the socket before checking the deadline again.
constexpr int slice_ms = 50;
// Reads of unsolicited messages before the connection is given up.
constexpr int unasked_max = 10;
// The database interrupts a statement at its deadline; after this much more it is unreachable.
constexpr std::chrono::seconds silence{1};
constexpr std::chrono::seconds clock_is_fresh{10};
constexpr std::chrono::milliseconds clock_is_exact{50};

std::string message_of(const pg_result* result) {
    auto field = [&](char code) {
        const char* text = PQresultErrorField(result, code);
        return std::string{text != nullptr ? text : ""};
    };
    return message_without_values(
        field(PG_DIAG_SQLSTATE),
        {.primary = field(PG_DIAG_MESSAGE_PRIMARY),
         .detail = field(PG_DIAG_MESSAGE_DETAIL),
         .hint = field(PG_DIAG_MESSAGE_HINT)}
    );
}

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
}

constexpr const char* in_hot_standby = "in_hot_standby";

std::string why_unusable(pg_conn* pg) {
    if (pg == nullptr) return " does not answer: no memory";
    if (PQstatus(pg) != CONNECTION_OK) return " does not answer: " + trimmed(PQerrorMessage(pg));
    // A text that another encoding lacks would be refused in the middle of a request, and SQL_ASCII
    // stores any bytes.
    const char* encoding = PQparameterStatus(pg, "server_encoding");
    if (encoding == nullptr || std::string_view{encoding} == "UTF8") return {};
    return std::string{" has the encoding "} + encoding + ": Pawl needs one with ENCODING 'UTF8'";
}

}  // namespace

void ClearResult::operator()(pg_result* result) const {
    PQclear(result);
}

Connection::Connection(const PostgresOptions& options, base::Clock& clock)
    : options_{options}, clock_{clock} {
    const auto timeout = std::to_string(std::max<std::int64_t>(
        2, std::chrono::ceil<std::chrono::seconds>(options.connect_timeout).count()
    ));
    // The URL may override the first ones.
    const std::array<const char*, 5> names{
        "connect_timeout", "tcp_user_timeout", "application_name", "dbname", nullptr};
    const std::array<const char*, 5> values{
        timeout.c_str(), "10000", "pawl", options.url.c_str(), nullptr};
    pg_ = PQconnectdbParams(names.data(), values.data(), 1);
    if (const auto why = why_unusable(pg_); !why.empty()) {
        PQfinish(pg_);
        throw StoreError{
            Kind::unavailable,
            Effect::none,
            "connect",
            "PAWL0008: the database " + base::without_password(options.url) + why};
    }
    // By default libpq writes warnings to stderr, where a full pipe would block the thread.
    PQsetNoticeProcessor(
        pg_, [](void*, const char*) {}, nullptr
    );
    PQsetnonblocking(pg_, 1);
    PQenterPipelineMode(pg_);
    // PostgreSQL reports this setting from 14 on, PgBouncer does not pass it on.
    is_ours_ = options.prepared && PQparameterStatus(pg_, in_hot_standby) != nullptr;
    if (is_ours_) pin_session();
}

void Connection::pin_session() {
    try {
        set_deadline(options_.connect_timeout);
        queue(sql::postgres::pin_session, {}, Use::plain);
        (void)flush();
        clear_deadline();
    } catch (...) {
        PQfinish(pg_);
        throw;
    }
}

Connection::~Connection() {
    PQfinish(pg_);
}

void Connection::check(int sent) {
    if (sent != 1) lost("send");
}

void Connection::queue(const Sql& statement, std::span<const Value> parameters, Use use) {
    if (statement.postgres.empty())
        throw store::statement_error(
            Kind::statement, statement.name, " has no text for PostgreSQL"
        );
    if (!allowed_.contains(statement.postgres.data())) {
        if (const auto word = forbidden_word(statement.postgres); !word.empty())
            throw store::statement_error(
                Kind::refused,
                statement.name,
                ": " + std::string{word} + " is the store's own, or would outlive the transaction"
            );
        if (options_.prepared) allowed_.insert(statement.postgres.data());
    }
    Queued queued{statement, use, owner_, {}, false};
    queued.values.reserve(parameters.size());
    for (const auto& value : parameters) queued.values.push_back(text_of(value, statement.name));
    queued_.push_back(std::move(queued));
}

bool Connection::needs_own_transaction(const Sql& statement) {
    if (!options_.prepared) return postgres::needs_own_transaction(statement.postgres);
    const auto [known, is_new] = own_transaction_.try_emplace(statement.postgres.data(), false);
    if (is_new) known->second = postgres::needs_own_transaction(statement.postgres);
    return known->second;
}

void Connection::queue_control(const char* text) {
    queued_.push_back({{"control", {}, text}, Use::control, owner_, {}, false});
}

void Connection::queue_commit() {
    queued_.push_back({{"commit", {}, "COMMIT"}, Use::commit, owner_, {}, false});
}

bool Connection::amend_begin(std::size_t parameter, std::string value) {
    if (queued_.empty() || queued_.back().use != Use::begin) return false;
    queued_.back().values.at(parameter) = std::move(value);
    return true;
}

Result Connection::flush() {
    Result last;
    std::optional<StoreError> failed;
    flush_each([&](Result answer, std::optional<StoreError> error) {
        if (error && !failed) failed = std::move(error);
        last = std::move(answer);
    });
    if (failed) throw StoreError{*failed};
    return last;
}

void Connection::flush_each(OnAnswer on_answer) {
    if (dead_) lost("flush");
    ++flushes_;
    std::vector<Expected> expected;
    expected.reserve(queued_.size() + 2);
    const auto all = combine(gather_rows(std::exchange(queued_, {})));
    for (const auto& queued : all) send(queued, expected);
    check(PQpipelineSync(pg_));
    read_answers(expected, on_answer);
}

void Connection::send(const Queued& queued, std::vector<Expected>& expected) {
    const auto& [statement, use, owner, values, combined] = queued;
    const auto text = [&queued] {
        const auto own = queued.statement.postgres;
        return queued.use == Use::fence && !queued.combined ? fence_text(own) : std::string{own};
    };
    if (!options_.prepared) {
        const Parameters parameters{values, {}};
        check(PQsendQueryParams(
            pg_,
            text().c_str(),
            parameters.count(),
            nullptr,
            parameters.values(),
            parameters.lengths(),
            parameters.formats(),
            0
        ));
        expected.push_back({statement.name, use, owner});
        return;
    }
    const PreparedKey key{statement.postgres.data(), use};
    auto known = prepared_.find(key);
    if (known == prepared_.end()) known = prepare(queued, text(), expected);
    const auto& prepared = known->second;
    const Parameters parameters{values, prepared.times};
    check(PQsendQueryPrepared(
        pg_,
        prepared.name.c_str(),
        parameters.count(),
        parameters.values(),
        parameters.lengths(),
        parameters.formats(),
        0
    ));
    expected.push_back({statement.name, use, owner});
}

Connection::AllPrepared::iterator Connection::prepare(
    const Queued& queued, const std::string& text, std::vector<Expected>& expected
) {
    const auto& statement = queued.statement;
    // The number distinguishes it from a statement that was dropped as outdated and keeps its
    // name in the database. Process and connection distinguish it from other clients'
    // statements behind a connection pool.
    const auto name = std::string{statement.name} + "_" + std::to_string(next_name_++) + "_" +
                      std::to_string(::getpid()) + "_" + std::to_string(PQbackendPID(pg_));
    check(PQsendPrepare(pg_, name.c_str(), text.c_str(), 0, nullptr));
    check(PQsendDescribePrepared(pg_, name.c_str()));
    for (const auto step : {Step::prepare, Step::describe})
        expected.push_back(
            {statement.name, queued.use, queued.owner, step, statement.postgres.data()}
        );
    const PreparedKey key{statement.postgres.data(), queued.use};
    return prepared_.insert_or_assign(key, Prepared{name, {}}).first;
}

// The answer to Step::describe.
void Connection::note_prepared(const pg_result* answer, const Expected& entry) {
    const auto found = prepared_.find({entry.text, entry.use});
    if (found == prepared_.end()) return;
    for (int i = 0; i < PQnparams(answer); ++i)
        found->second.times.push_back(PQparamtype(answer, i) == type_id::timestamp_with_zone);
}

// Reads all answers, even after a failure, so that the connection stays in step.
void Connection::read_answers(const std::vector<Expected>& expected, OnAnswer on_answer) {
    const auto began = clock_.steady();
    std::optional<StoreError> failed;
    for (const auto& entry : expected) {
        auto answer = next_answer();
        const auto status = PQresultStatus(answer.get());
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            if (entry.step == Step::prepare) prepared_.erase({entry.text, entry.use});
            if (!failed) failed = failure(answer.get(), entry);
        } else if (entry.step == Step::describe) {
            note_prepared(answer.get(), entry);
        } else if (entry.use == Use::begin && entry.step == Step::run) {
            // It ran before its answer came, as part of one packet.
            if (clock_.steady() - began > clock_is_exact)
                database_clock_.reset();
            else
                note_database_clock(std::strtoll(PQgetvalue(answer.get(), 0, 2), nullptr, 10));
        }
        while (next_answer()) {  // Skips the end of this statement's results.
        }
        if (entry.step == Step::run) on_answer(std::move(answer), failed);
    }
    if (PQresultStatus(next_answer().get()) != PGRES_PIPELINE_SYNC) lost("sync");
}

// The next result; null at the end of a statement's results.
Result Connection::next_answer() {
    wait_for_answer();
    Result result{PQgetResult(pg_)};
    if (result == nullptr && PQstatus(pg_) != CONNECTION_OK) lost("answer");
    // The last message of a database that is shutting down.
    if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR && PQstatus(pg_) != CONNECTION_OK) {
        const auto error = failure(result.get(), {"answer", Use::control, owner_});
        dead_ = true;
        throw StoreError{Kind::unavailable, error.effect(), error.statement(), error.what()};
    }
    refuse_copy(result.get());
    return result;
}

// libpq would return the same result again and again.
void Connection::refuse_copy(const pg_result* result) {
    const auto status = PQresultStatus(result);
    if (status != PGRES_COPY_IN && status != PGRES_COPY_OUT && status != PGRES_COPY_BOTH) return;
    dead_ = true;
    throw StoreError{
        Kind::refused,
        Effect::none,
        "copy",
        "COPY is not allowed in a phase; the connection is closed"};
}

void Connection::wait_for_answer() {
    for (;;) {
        const int more = PQflush(pg_);
        if (more < 0) lost("flush");
        if (more == 0 && PQisBusy(pg_) == 0) return;
        pollfd socket{PQsocket(pg_), static_cast<short>(POLLIN | (more == 1 ? POLLOUT : 0)), 0};
        poll(&socket, 1, slice_ms);
        if (deadline_ && clock_.steady() > *deadline_ + silence) {
            dead_ = true;
            throw StoreError{
                Kind::deadline,
                Effect::rolled_back,
                "",
                "the database did not answer by the deadline: the connection is given up"};
        }
        if (socket.revents != 0 && PQconsumeInput(pg_) == 0) lost("answer");
    }
}

StoreError Connection::failure(const pg_result* result, const Expected& entry) {
    auto own = own_failure(result, entry);
    if (entry.owner == owner_) return own;
    earlier_failure_ = EarlierFailure{entry.owner, own.kind()};
    return store::statement_error(
        Kind::contention, entry.name, " of a work that shares the transaction failed"
    );
}

StoreError Connection::own_failure(const pg_result* result, const Expected& entry) {
    const char* state_text = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    std::string state = state_text != nullptr ? state_text : "";
    auto message = message_of(result);
    if (PQresultStatus(result) == PGRES_EMPTY_QUERY)
        return store::statement_error(Kind::statement, entry.name, " is empty");
    if (entry.use == Use::fence && state == "22012") return store::fence_lost(entry.name);
    // A standby refuses BEGIN READ WRITE by this state, which a changed plan has, too.
    if (entry.use == Use::control && state == "0A000") {
        behind_standby_ = true;
        state = "25006";
    }
    auto kind = kind_of_state(state);
    const char* function = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    if (state == "0A000" && function != nullptr &&
        std::string_view{function} == "RevalidateCachedQuery") {
        prepared_.clear();  // The table has changed; the next run prepares the statement anew.
        kind = Kind::contention;
    }
    return {
        kind,
        outcome_unknown(state, entry.use == Use::commit) ? Effect::in_doubt : Effect::none,
        entry.name,
        "statement " + std::string{entry.name} + ": " + message + " [" + state + "]" +
            std::string{hint_for_state(state)}};
}

void Connection::lost(std::string_view statement) {
    dead_ = true;
    throw StoreError{
        Kind::unavailable,
        Effect::none,
        statement,
        "the connection to the database was lost: " + trimmed(PQerrorMessage(pg_))};
}

void Connection::script(std::string_view name, std::string_view text) {
    if (const auto word = forbidden_word(text); !word.empty())
        throw StoreError{
            Kind::refused,
            Effect::none,
            name,
            "script " + std::string{name} + ": " + std::string{word} + " is the store's own"};
    (void)flush();  // Sends the BEGIN first: a script bypasses the queue.
    if (PQexitPipelineMode(pg_) == 0) lost(name);
    std::optional<StoreError> failed;
    // One statement at a time: Citus refuses several in one message.
    while (!text.empty() && !failed) {
        const auto statement = first_statement(text);
        text.remove_prefix(statement.size());
        check(PQsendQuery(pg_, std::string{statement}.c_str()));
        while (const auto answer = next_answer()) {
            const auto status = PQresultStatus(answer.get());
            if (status == PGRES_FATAL_ERROR && !failed)
                failed = failure(answer.get(), {name, Use::plain, owner_});
        }
    }
    if (PQenterPipelineMode(pg_) == 0) lost(name);
    if (failed) throw StoreError{*failed};
}

bool Connection::usable() const {
    return !dead_ && PQstatus(pg_) == CONNECTION_OK;
}

bool Connection::is_still_there() {
    // A new connection may reach the primary: another of the URL's hosts, or where a proxy leads to
    // now.
    const char* standby = PQparameterStatus(pg_, in_hot_standby);
    if (behind_standby_ || (standby != nullptr && std::string_view{standby} == "on")) dead_ = true;
    // libpq reads a shutdown message and the end of the stream separately; parameter changes are
    // ignored.
    for (int reads = 0; usable() && reads < unasked_max; ++reads) {
        pollfd socket{PQsocket(pg_), POLLIN, 0};
        if (poll(&socket, 1, 0) == 0) return true;
        if (PQconsumeInput(pg_) == 0) dead_ = true;
        (void)PQisBusy(pg_);
    }
    dead_ = true;
    return false;
}

bool Connection::in_transaction() const {
    const auto status = PQtransactionStatus(pg_);
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

void Connection::set_deadline(std::chrono::milliseconds from_now) {
    deadline_ = clock_.steady() + from_now;
}

bool Connection::deadline_passed() const {
    return deadline_ && clock_.steady() > *deadline_;
}

std::chrono::milliseconds Connection::time_left() const {
    using std::chrono::milliseconds;
    if (!deadline_) return milliseconds::max();
    return std::max(
        std::chrono::floor<milliseconds>(*deadline_ - clock_.steady()), milliseconds{0}
    );
}

std::optional<TimePoint> Connection::database_now() const {
    if (!database_clock_) return std::nullopt;
    const auto since = clock_.steady() - database_clock_->at;
    if (since > clock_is_fresh) return std::nullopt;
    return TimePoint{
        std::chrono::milliseconds{database_clock_->ms} +
        std::chrono::floor<std::chrono::milliseconds>(since)};
}

void Connection::note_database_clock(std::int64_t ms_since_1970) {
    database_clock_ = Seen{ms_since_1970, clock_.steady()};
}

}  // namespace pawl::postgres
