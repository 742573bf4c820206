#pragma once

#include "apps/payouts/bank_format.hpp"
#include "apps/payouts/payouts.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace payouts {

struct PayoutRequest {
    std::int64_t amount{};  // Minor units.
    std::string currency;
    std::string creditor_name;
    std::string creditor_account;               // An IBAN; with NACHA an account number.
    std::optional<std::string> routing_number;  // With NACHA.
    std::optional<std::string> reference;
};

/// POST /payouts: takes one payout for the next bank file. What no file can have is refused here,
/// so that a file can always be made of what was accepted.
class PostPayout {
public:
    static constexpr std::string_view name = "post_payout";
    explicit PostPayout(BankFormat format) : format_{std::move(format)} {}

    using Started = pawl::Started<PayoutRequest>;
    pawl::Next<pawl::Refusal> insert(pawl::Tx& tx, const Started& at);
    using Flow = pawl::Steps<pawl::Atomic<&PostPayout::insert>>;

private:
    BankFormat format_;
};
static_assert(pawl::Operation<PostPayout>);

// As its owner sees it: a row of find_payout, and the JSON of the answers.
struct Payout {
    PayoutId id{};
    std::string created_at;
    std::string end_to_end_id;
    std::int64_t amount{};
    std::string currency;
    std::string creditor_name;
    std::string creditor_account;
    std::optional<std::string> routing_number;
    std::string reference;
    std::string state;  // collected, set_aside, in_file, sent, paid, returned.
    std::optional<std::int64_t> file_number;
    std::optional<std::string> return_reason;  // Or why it is set aside.
};

/// GET /payouts/{id}
class ShowPayout {
public:
    static constexpr std::string_view name = "show_payout";
    struct Request {
        PayoutId id{};
    };
    pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<Request>& at);
};

}  // namespace payouts
