#pragma once

#include <pawl/http.hpp>
#include <pawl/operator_server.hpp>
#include <pawl/service.hpp>
#include <pawl/statement.hpp>
#include <pawl/traces.hpp>

#include <functional>
#include <span>
#include <string>

namespace pawl {

// A whole program of a service: `NAME serve`, `NAME openapi`, and the operator's commands
// (pawl/command_line.hpp).
struct Program {
    std::string name{};                         // As it is typed: "transfers".
    std::string version{"1"};                   // Of the service's own API, for `openapi`.
    std::string summary{};                      // The first line of --help.
    std::span<const Sql* const> migrations{};   // The application's own tables.
    std::function<void(Service&)> add{};        // Adds operations, job handlers and schedules.
    std::function<void(HttpServer&)> routes{};  // Adds routes.
    // Called by `serve` on the migrated database, before it listens: makes rows that must be there.
    std::function<void(Database&)> prepare{};
    // Defaults; the options below replace some.
    std::string database{};  // Empty: sqlite:NAME.db
    ServiceOptions service{};
    HttpOptions http{};
    OperatorOptions operators{};
    TraceOptions traces{};
};

// The main() of such a program; returns its exit code: 0 done, 1 failed, 2 wrong arguments.
//
//   int main(int argc, char** argv) {
//       return pawl::run_program(
//           {.name = "transfers",
//            .migrations = sql::migrations::all,
//            .add = [](pawl::Service& service) { service.add(Transfer{}); },
//            .routes = [](pawl::HttpServer& server) { server.post<Transfer>("/transfers"); },
//            .http = {.authenticate = &find_account}},
//           argc,
//           argv
//       );
//   }
//
// Options of `serve`: --database, --queue, --listen, --secret-file, --mark-file, --workers,
// --access-log, --operate, --operators, --operator-header, --operator-proxies, --pre-stop-delay-s,
// --alert-webhook, --alert-command, --otlp-url, --otlp-headers-file, --trace-ratio. Those of the
// service are also options of the operator's commands; `graph` needs no database. Call it first in
// main(): it blocks the signals that end a server.
int run_program(const Program& program, int argc, const char* const* argv);

}  // namespace pawl
