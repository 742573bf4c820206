#include "docs/tutorial/bank.hpp"

#include <pawl/json.hpp>

#include <cstdlib>
#include <optional>

namespace transfers {

namespace {

pawl::ClientRequest request_of(const Payment& payment) {
    return {.method = "POST", .target = "/payments", .body = pawl::to_json(payment)};
}

// nullopt: it is not the bank's own answer, so its status decides (pawl/outcome.hpp).
std::optional<PaymentOutcome> read(const pawl::Answered& answered) {
    if (answered.status == 201)
        if (auto accepted = pawl::from_json<Accepted>(answered.body)) return *accepted;
    if (answered.status == 422)
        if (auto refused = pawl::from_json<Refused>(answered.body)) return *refused;
    return std::nullopt;
}

}  // namespace

PaymentOutcome HttpBank::pay(pawl::KeyedCall& call, const Payment& payment) {
    return pawl::outcome<Accepted, Refused>(client_.perform(call, request_of(payment)), &read);
}

PaymentOutcome HttpBank::pay_once(pawl::Call& call, const Payment& payment) {
    return pawl::outcome<Accepted, Refused>(client_.send_once(call, request_of(payment)), &read);
}

std::string bank_url() {
    const char* url = std::getenv("BANK");
    return url != nullptr ? url : "http://127.0.0.1:8090";
}

}  // namespace transfers
