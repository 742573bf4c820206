#include "docs/tutorial/wire.hpp"

// Tutorial, chapter 2: a service that pays at another bank.
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
         .http = {.anonymous = true}},
        argc,
        argv
    );
}
