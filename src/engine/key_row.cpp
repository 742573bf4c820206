#include "src/engine/key_row.hpp"

#include <pawl/detail/json.hpp>
#include <pawl/detail/rows.hpp>
#include <pawl/error.hpp>

#include "src/base/time_text.hpp"
#include "src/json/hash.hpp"
#include "store/statements.hpp"

#include <array>
#include <utility>

namespace pawl::engine {

namespace {

struct StoredHeaders {
    std::vector<Header> headers;
};

// Reads the columns of find_key in their order.
class Columns {
public:
    explicit Columns(const detail::Row& row) : row_{row} {}
    template <class T>
    T next() {
        return detail::column_as<T>(row_, column_++, "find_key");
    }
    // For columns that a replay does not need: skipped for a finished key.
    void next_unless(bool finished, std::string& to) {
        if (!finished) to = row_.text(column_);
        ++column_;
    }
    void skip() { ++column_; }

private:
    const detail::Row& row_;
    int column_{0};
};

// Of find_key.
constexpr int status_column = 13;
constexpr int held_column = 28;

core::KeyStatus status_of_text(std::string_view word) {
    if (word == "finished") return core::KeyStatus::finished;
    if (word == "attention") return core::KeyStatus::attention;
    return core::KeyStatus::open;
}

KeyRow key_row(const detail::Row& row) {
    using Text = std::optional<std::string>;
    Columns columns{row};
    KeyRow key;
    key.id = columns.next<std::int64_t>();
    key.hash = columns.next<std::string>();
    key.expired = columns.next<std::string>() == "expired";
    key.outcome = columns.next<std::optional<int>>();
    key.location = columns.next<Text>();
    if (key.expired) return key;
    key.status = status_of_text(row.text(status_column));
    const bool finished = key.status == core::KeyStatus::finished;
    columns.next_unless(finished, key.principal.tenant);
    columns.next_unless(finished, key.principal.account);
    columns.next_unless(finished, key.key);
    key.operation = columns.next<std::string>();
    columns.next_unless(finished, key.origin);
    key.fingerprint = columns.next<std::string>();
    key.secret_version = columns.next<int>();
    columns.next_unless(finished, key.params);
    columns.skip();  // The status.
    key.attempt = columns.next<int>();
    key.lease_until = columns.next<std::optional<TimePoint>>();
    columns.next_unless(finished, key.recovery_point);
    columns.next_unless(finished, key.recovery_data);
    key.generation = columns.next<int>();
    key.call_key = columns.next<Text>();
    key.called_at = columns.next<std::optional<TimePoint>>();
    key.calling = columns.next<bool>();
    key.call_target = columns.next<Text>();
    if (finished) {
        key.response.status = columns.next<int>();
        key.response.content_type = columns.next<Text>().value_or("");
        key.response.headers = decode_headers(columns.next<Text>().value_or(""));
        key.response.body = columns.next<Text>().value_or("");
        key.expires_at = columns.next<std::optional<TimePoint>>();
    } else {
        key.held = detail::column_as<bool>(row, held_column, sql::find_key.name);
    }
    return key;
}

}  // namespace

KeyIdentity key_identity(Scope scope, const Principal& principal, std::string key) {
    return {
        .tenant = principal.tenant,
        .account = scope == Scope::tenant ? std::string{} : principal.account,
        .key = std::move(key)};
}

std::string key_hash(const KeyIdentity& identity) {
    json::Parts parts;
    parts.add(identity.tenant).add(identity.account).add(identity.key);
    return json::short_hash(parts);
}

std::optional<std::int64_t> claim_key(detail::Session& session, std::string_view hash) {
    if (detail::execute_statement(session, sql::claim_key, hash) == 0) return std::nullopt;
    return detail::read_row(session, sql::find_claimed_id, detail::first_number, hash);
}

std::optional<KeyRow> find_key(detail::Session& session, std::string_view hash) {
    return detail::read_row(session, sql::find_key, key_row, hash);
}

std::optional<KeyRow> find_key(detail::Session& session, std::int64_t id) {
    return detail::read_row(session, sql::find_key_by_id, key_row, id);
}

namespace {

// By its hash or its id.
template <class Of>
class KeyLookup final : public store::Lookup {
public:
    KeyLookup(const Sql& statement, Of of, OnKeyRow found)
        : statement_{statement}, of_{std::move(of)}, on_found_{std::move(found)} {
        std::string made;
        value_[0] = detail::bind_value(of_, statement_.name, made);
    }
    const Sql& statement() const override { return statement_; }
    std::span<const detail::Value> parameters() const override { return value_; }
    void row(const detail::Row& row) override { found_ = key_row(row); }
    void done(std::exception_ptr failed, TimePoint now) noexcept override {
        on_found_(std::move(failed), found_, now);
    }

private:
    const Sql& statement_;
    Of of_;
    OnKeyRow on_found_;
    std::array<detail::Value, 1> value_;
    std::optional<KeyRow> found_;
};

}  // namespace

void lookup_key(store::Store& store, std::string hash, OnKeyRow found) {
    store.lookup(
        std::make_unique<KeyLookup<std::string>>(sql::find_key, std::move(hash), std::move(found))
    );
}

void lookup_key(store::Store& store, std::int64_t id, OnKeyRow found) {
    store.lookup(
        std::make_unique<KeyLookup<std::int64_t>>(sql::find_key_by_id, id, std::move(found))
    );
}

std::string encode_headers(const std::vector<Header>& headers) {
    return headers.empty() ? std::string{} : detail::encode(StoredHeaders{headers});
}

std::vector<Header> decode_headers(std::string_view json) {
    if (json.empty()) return {};
    auto decoded = detail::decode<StoredHeaders>(json);
    if (auto* stored = std::get_if<StoredHeaders>(&decoded)) return std::move(stored->headers);
    return {};
}

}  // namespace pawl::engine
