#include <pawl/program.hpp>

#include "transfers.hpp"

#include <cstdlib>

int main(int argc, char** argv) {
    const char* url = std::getenv("BANK");
    const auto bank = std::make_shared<Bank>(url != nullptr ? url : "http://127.0.0.1:8090");
    return pawl::run_program(
        {.name = "transfers",
         .summary = "Moves money between accounts and sends cheques",
         .migrations = sql::migrations::all,
         .add =
             [&](pawl::Service& service) {
                 service.add(Transfer{bank});
                 service.add(Cheque{bank});
                 service.add(Notifier{bank});
             },
         .routes =
             [](pawl::HttpServer& server) {
                 server.post<Transfer>("/transfers");
                 server.post<Cheque>("/cheques");
                 server.get("/accounts/{name}", ShowAccount{});
             },
         .prepare = [](pawl::Database& database) { database.write(&open_accounts); },
         .http = {.anonymous = true}},
        argc,
        argv
    );
}
