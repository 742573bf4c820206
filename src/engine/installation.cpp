#include "src/engine/installation.hpp"

#include <pawl/detail/rows.hpp>

#include "src/base/time_text.hpp"
#include "src/json/hash.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace pawl::engine {

using detail::execute_statement;
using detail::Row;
using detail::run_statement;

namespace {

constexpr std::size_t file_secrets_max = 16;

std::vector<std::string> read_secrets(const std::string& path) {
    std::ifstream file{path};
    std::vector<std::string> secrets;
    for (std::string line; std::getline(file, line);) {
        const auto number = std::to_string(secrets.size() + 1);
        if (line.size() < 32)
            throw std::runtime_error{
                "line " + number + " of the secret file " + path + " has " +
                std::to_string(line.size()) +
                " characters: at least 32 (openssl rand -hex 32 makes a secret)"};
        if (line.back() == '\r')
            throw std::runtime_error{
                "line " + number + " of the secret file " + path +
                " ends with CR and LF: save it with LF alone"};
        secrets.push_back(std::move(line));
    }
    if (secrets.empty())
        throw std::runtime_error{
            "the secret file " + path +
            " can't be read: PAWL_SECRET_FILE names a file with a secret in its first line"};
    if (secrets.size() > file_secrets_max)
        throw std::runtime_error{
            "the secret file " + path + " has more than " + std::to_string(file_secrets_max) +
            " secrets: the one in use, and below it older ones"};
    return secrets;
}

// What the database stores of a secret that is in a file. The text must never change.
std::string verifier_of(const std::string& secret, const std::string& installation) {
    return json::hex(
        json::hmac_sha256(secret, "pawl: this verifies the secret of installation " + installation)
    );
}

struct Stored {
    std::string name;
    std::map<int, std::string> secrets;    // Made in the database, or stored by 0.1.0.
    std::map<int, std::string> verifiers;  // Of secrets that are in a file.

    int highest() const {
        return std::max(
            secrets.empty() ? 0 : secrets.rbegin()->first,
            verifiers.empty() ? 0 : verifiers.rbegin()->first
        );
    }
};

Stored read(store::Session& session) {
    Stored found;
    run_statement(session, sql::find_installation, [&](const Row& row) {
        found.name = row.text(0);
    });
    run_statement(session, sql::find_secrets, [&](const Row& row) {
        found.secrets[static_cast<int>(row.integer(0))] = row.text(1);
    });
    run_statement(session, sql::find_secret_verifiers, [&](const Row& row) {
        found.verifiers[static_cast<int>(row.integer(0))] = row.text(1);
    });
    return found;
}

std::optional<int> version_of(const std::map<int, std::string>& texts, const std::string& text) {
    for (const auto& [version, one] : texts)
        if (one == text) return version;
    return std::nullopt;
}

// Returns the version of a secret of the file; a new one if the database does not know it. Removes
// a plain copy made by 0.1.0.
int keep_verifier(
    store::Session& session, Stored& stored, const std::string& secret, const std::string& now
) {
    const auto verifier = verifier_of(secret, stored.name);
    auto version = version_of(stored.verifiers, verifier);
    const auto clear = version_of(stored.secrets, secret);
    while (!version) {
        const int next = clear.value_or(stored.highest() + 1);
        // Another server may have taken this version meanwhile, for this or another secret.
        if (execute_statement(session, sql::insert_secret_verifier, next, verifier, now) == 1)
            version = next;
        stored.verifiers = read(session).verifiers;
        if (!version) version = version_of(stored.verifiers, verifier);
    }
    if (clear) {
        execute_statement(session, sql::delete_secret, *clear);
        stored.secrets.erase(*clear);
    }
    return *version;
}

}  // namespace

const std::string& Installation::secret() const {
    const auto at = secrets.find(version);
    if (at == secrets.end())
        throw std::runtime_error{
            "the secret of this database is in a file: give --secret-file, or PAWL_SECRET_FILE, "
            "the file that its servers were started with"};
    return at->second;
}

void read_epochs(store::Session& session, Installation& into) {
    into.epoch = 1;
    into.lost.clear();
    run_statement(session, sql::find_epochs, [&](const Row& row) {
        const auto& name = sql::find_epochs.name;
        into.epoch = detail::column_as<int>(row, 0, name);
        into.lost.push_back(
            {.since = detail::column_as<TimePoint>(row, 1, name),
             .keys_until = detail::column_as<TimePoint>(row, 2, name),
             .last_key_id = detail::column_as<std::int64_t>(row, 3, name),
             .opened = detail::column_as<TimePoint>(row, 4, name)}
        );
    });
}

Installation open_installation(
    store::Store& store, base::Clock& clock, base::Random& random, const std::string& secret_file
) {
    const auto of_file =
        secret_file.empty() ? std::vector<std::string>{} : read_secrets(secret_file);
    return store::write_now(store, [&](store::Session& session) {
        const auto now = base::time_text(clock.now());
        execute_statement(session, sql::insert_installation, base::random_hex(random, 32), now);
        auto stored = read(session);
        if (of_file.empty() && stored.highest() == 0) {
            execute_statement(session, sql::insert_secret, 1, base::random_hex(random, 64), now);
            stored = read(session);
        }
        Installation found;
        found.name = stored.name;
        found.version = stored.highest();
        if (!stored.verifiers.empty()) found.newest_before = stored.verifiers.rbegin()->first;
        read_epochs(session, found);
        // The oldest first, so that versions ascend with age.
        for (auto secret = of_file.rbegin(); secret != of_file.rend(); ++secret) {
            found.version = keep_verifier(session, stored, *secret, now);
            found.secrets[found.version] = *secret;
        }
        for (const auto& [version, secret] : stored.secrets) found.secrets.emplace(version, secret);
        return found;
    });
}

Installation inspect_installation(store::Store& store, const std::string& secret_file) {
    const auto of_file =
        secret_file.empty() ? std::vector<std::string>{} : read_secrets(secret_file);
    return store::read_now(store, [&](store::Session& session) {
        Installation found;
        bool any = false;
        session.run(sql::find_tables, {}, [&](const Row&) { any = true; });
        if (!any) return found;
        const auto stored = read(session);
        found.name = stored.name;
        found.version = stored.highest();
        found.secrets = stored.secrets;
        if (!stored.verifiers.empty()) found.newest_before = stored.verifiers.rbegin()->first;
        read_epochs(session, found);
        for (auto secret = of_file.rbegin(); secret != of_file.rend(); ++secret) {
            auto version = version_of(stored.verifiers, verifier_of(*secret, stored.name));
            if (!version) version = version_of(stored.secrets, *secret);
            if (!version) {
                ++found.new_secrets;
                continue;
            }
            found.version = *version;
            found.secrets[*version] = *secret;
        }
        return found;
    });
}

}  // namespace pawl::engine
