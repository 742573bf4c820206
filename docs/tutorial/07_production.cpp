#include <pawl/bearer_token.hpp>

#include "docs/tutorial/wire.hpp"

#include <cstdlib>
#include <fstream>
#include <map>

// Tutorial, chapter 7: the wire of chapter 2 for several servers, with tokens.
namespace {

// The file that TOKENS names: a token and an account in each line.
using Tokens = std::map<std::string, std::string, std::less<>>;

Tokens read_tokens() {
    Tokens tokens;
    const char* path = std::getenv("TOKENS");
    std::ifstream file{path != nullptr ? path : ""};
    std::string token;
    std::string account;
    while (file >> token >> account) tokens.emplace(token, account);
    return tokens;
}

std::optional<pawl::Principal> find_account(const Tokens& tokens, const pawl::RequestHead& head) {
    const auto token = pawl::bearer_token(head);
    if (!token) return std::nullopt;
    const auto found = tokens.find(*token);
    if (found == tokens.end()) return std::nullopt;
    return pawl::Principal{.tenant = "bank", .account = found->second};
}

}  // namespace

int main(int argc, char** argv) {
    using namespace transfers;
    return pawl::run_program(
        {.name = "transfers",
         .summary = "Sends money to another bank",
         .migrations = sql::migrations::all,
         .add = [](pawl::Service& service
                ) { service.add(Wire{std::make_shared<HttpBank>(bank_url())}); },
         .routes =
             [](pawl::HttpServer& server) {
                 server.post<Wire>("/wires");
                 server.get("/accounts/{name}", ShowAccount{});
             },
         .prepare = [](pawl::Database& database) { database.write(&open_accounts); },
         .http =
             {.authenticate = [tokens = read_tokens()](const pawl::RequestHead& head
                              ) { return find_account(tokens, head); }}},
        argc,
        argv
    );
}
