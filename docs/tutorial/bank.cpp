#include "docs/tutorial/bank.hpp"

#include <pawl/json.hpp>

#include <cstdlib>

namespace transfers {

namespace {

pawl::ClientRequest request_of(const Payment& payment) {
    return {.method = "POST", .target = "/payments", .body = pawl::to_json(payment)};
}

PaymentOutcome outcome_of(const pawl::ClientResult& end) {
    return pawl::outcome<pawl::ByStatus<201, Accepted>, pawl::ByStatus<422, Refused>>(end);
}

}  // namespace

PaymentOutcome HttpBank::pay(pawl::KeyedCall& call, const Payment& payment) {
    return outcome_of(client_.perform(call, request_of(payment)));
}

PaymentOutcome HttpBank::pay_once(pawl::Call& call, const Payment& payment) {
    return outcome_of(client_.send_once(call, request_of(payment)));
}

std::string bank_url() {
    const char* url = std::getenv("BANK");
    return url != nullptr ? url : "http://127.0.0.1:8090";
}

}  // namespace transfers
