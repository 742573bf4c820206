#include "docs/tutorial/accounts.hpp"
#include "docs/tutorial/bank.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// Tutorial, chapter 4: the payee of a transfer gets a notice, by a job.
namespace transfers {

// The arguments of the job.
struct SendNotice {
    static constexpr std::string_view kind = "send_notice";
    std::string recipient;
    std::string text;
};

struct TransferRequest {
    std::string payer;
    std::string payee;
    std::int64_t cents{};

    std::optional<std::string> problem() const {
        if (cents < 1) return "cents is at least 1";
        return std::nullopt;
    }
};

class Transfer {
public:
    static constexpr std::string_view name = "transfer";
    using Started = pawl::Started<TransferRequest>;

    pawl::Next<pawl::Refusal> move_money(pawl::Tx& tx, const Started& at) {
        const auto& [payer, payee, cents] = at.request;
        tx.stage(SendNotice{payee, payer + " sent you " + std::to_string(cents) + " cents"});
        if (execute(tx, sql::take, payer, cents) == 0)
            return pawl::refuse(422, NotMade{"the payer has too little money"});
        if (execute(tx, sql::give, payee, cents) == 0)
            return pawl::refuse(422, NotMade{"there is no such payee"});
        return pawl::answer(201, at.request);
    }

    using Flow = pawl::Steps<pawl::Atomic<&Transfer::move_money>>;
};
static_assert(pawl::checked<Transfer>());

// The handler of the job.
class NoticeSender {
public:
    explicit NoticeSender(std::string url) : client_{{.url = std::move(url)}} {}

    pawl::JobResult work(pawl::KeyedCall& call, const pawl::Job<SendNotice>& job) {
        return pawl::job_result(client_.perform(
            call, {.method = "POST", .target = "/notices", .body = pawl::to_json(job.args)}
        ));
    }

private:
    pawl::Client client_;
};

}  // namespace transfers

int main(int argc, char** argv) {
    using namespace transfers;
    return pawl::run_program(
        {.name = "transfers",
         .summary = "Moves money between accounts, with notices",
         .migrations = sql::migrations::all,
         .add =
             [](pawl::Service& service) {
                 service.add(Transfer{});
                 service.add(NoticeSender{bank_url()});
             },
         .routes =
             [](pawl::HttpServer& server) {
                 server.post<Transfer>("/transfers");
                 server.get("/accounts/{name}", ShowAccount{});
             },
         .prepare = [](pawl::Database& database) { database.write(&open_accounts); },
         // Two repeats of a failed job, for readers; without this five, the last after six hours.
         .service = {.retry_layers = {std::chrono::seconds{3}, std::chrono::seconds{3}}},
         .http = {.anonymous = true}},
        argc,
        argv
    );
}
