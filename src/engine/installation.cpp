#include "src/engine/installation.hpp"

#include <pawl/detail/rows.hpp>

#include "src/core/time_text.hpp"
#include "src/engine/random.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace pawl::engine {

namespace {

using detail::Row;
using detail::run_statement;

constexpr auto no_rows = [](const Row&) {};

std::string read_secret(const std::string& path) {
    std::ifstream file{path};
    std::string line;
    if (!file || !std::getline(file, line))
        throw std::runtime_error{
            "the secret file " + path +
            " can't be read: PAWL_SECRET_FILE names a file of one line"};
    if (line.size() < 32)
        throw std::runtime_error{
            "the secret in " + path + " has " + std::to_string(line.size()) +
            " characters: at least 32 (openssl rand -hex 32 makes one)"};
    return line;
}

Installation read(store::Session& session) {
    Installation found;
    run_statement(session, sql::find_installation, [&](const Row& row) {
        found.name = row.text(0);
    });
    run_statement(session, sql::find_secrets, [&](const Row& row) {
        found.secrets[static_cast<int>(row.integer(0))] = row.text(1);
    });
    return found;
}

}  // namespace

Installation open_installation(
    store::Store& store, core::Clock& clock, core::Random& random, const std::string& secret_file
) {
    const auto secret = secret_file.empty() ? std::string{} : read_secret(secret_file);
    return store::write_now(store, [&](store::Session& session) {
        const auto now = core::time_text(clock.now());
        run_statement(session, sql::insert_installation, no_rows, random_hex(random, 32), now);
        auto found = read(session);
        const bool known =
            std::any_of(found.secrets.begin(), found.secrets.end(), [&](const auto& entry) {
                return entry.second == secret;
            });
        if (found.secrets.empty() || (!secret.empty() && !known)) {
            const int version = found.secrets.empty() ? 1 : found.secret_version() + 1;
            run_statement(
                session,
                sql::insert_secret,
                no_rows,
                version,
                secret.empty() ? random_hex(random, 64) : secret,
                now
            );
            found = read(session);
        }
        return found;
    });
}

}  // namespace pawl::engine
