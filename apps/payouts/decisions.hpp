#pragma once

#include <pawl/tx.hpp>

#include <string>

namespace payouts {

// Who decides, and why: recorded in the audit with each decision.
struct Decider {
    std::string by;
    std::string reason;
};

// Nothing is changed: what the person wants is not possible now. The text says why.
struct Refused {
    std::string why;
};

// `about` names the thing: "report 7".
void audit(pawl::Tx& tx, const Decider& who, const std::string& action, const std::string& about);

}  // namespace payouts
