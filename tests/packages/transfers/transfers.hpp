#pragma once

#include <pawl/client.hpp>
#include <pawl/json.hpp>
#include <pawl/outcome.hpp>
#include <pawl/service.hpp>

#include "transfers/migrations.hpp"
#include "transfers/statements.hpp"

#include <memory>

struct PaymentRequest {
    std::string payer, payee;
    std::int64_t cents{};
    std::optional<std::string> problem() const {
        return cents > 0 ? std::nullopt : std::optional<std::string>{"cents is at least 1"};
    }
};
struct Payment {
    std::int64_t id{};
    std::string payer, payee;
    std::int64_t cents{};
    std::string state, reference;
};
struct Account {
    std::string name;
    std::int64_t cents{};
};
struct NotMade {
    std::string why;
};
struct Notice {
    static constexpr std::string_view kind = "notice";
    static constexpr pawl::JobSettings settings{
        .queue = "notices", .timeout = std::chrono::seconds{10}};
    std::string recipient, text;
};

// The bank's answers, and the bank: POST /transfers honours our keys, POST /cheques prints each
// time.
struct Accepted {
    std::string reference;
};
struct Refused {
    std::string why;
};
using Paid = pawl::Outcome<Accepted, Refused>;

inline Paid paid(const pawl::ClientResult& end) {
    return pawl::outcome<pawl::ByStatus<201, Accepted>, pawl::ByStatus<422, Refused>>(end);
}

class Bank {
public:
    explicit Bank(std::string url) : client_{{.url = std::move(url)}} {}
    virtual ~Bank() = default;
    virtual Paid transfer(pawl::KeyedCall& call, const PaymentRequest& payment) {
        return paid(client_.perform(call, post("/transfers", pawl::to_json(payment))));
    }
    virtual Paid cheque(pawl::Call& call, const PaymentRequest& payment) {
        return paid(client_.send_once(call, post("/cheques", pawl::to_json(payment))));
    }
    pawl::JobResult notify(pawl::KeyedCall& call, const Notice& notice) {
        return pawl::job_result(client_.perform(call, post("/notices", pawl::to_json(notice))));
    }
    std::string url() const { return client_.options().url; }

private:
    static pawl::ClientRequest post(std::string target, std::string body) {
        return {.method = "POST", .target = std::move(target), .body = std::move(body)};
    }
    pawl::Client client_;
};
using SharedBank = std::shared_ptr<Bank>;

// What both operations do before and after their calls.
struct MoneyTaken {
    static constexpr std::string_view name = "money_taken";
    std::int64_t id{};
    PaymentRequest payment;
};
using TakeMoney = pawl::Next<MoneyTaken, pawl::Refusal>;

inline TakeMoney take(pawl::Tx& tx, const pawl::Started<PaymentRequest>& at) {
    const auto& [payer, payee, cents] = at.request;
    if (execute(tx, sql::take, payer, cents) == 0)
        return pawl::refuse(422, NotMade{"the payer has too little money"});
    execute(tx, sql::begin_payment, at.key_id, payer, payee, cents);
    return MoneyTaken{at.key_id, at.request};
}
inline pawl::Answer end_payment(pawl::Tx& tx, const MoneyTaken& at, const Accepted& accepted) {
    execute(tx, sql::end_payment, at.id, "paid", accepted.reference);
    tx.stage(Notice{
        at.payment.payee,
        at.payment.payer + " sent you " + std::to_string(at.payment.cents) + " cents"});
    return pawl::answer(201, pawl::query_one<Payment>(tx, sql::find_payment, at.id));
}
inline pawl::Answer give_back(pawl::Tx& tx, const MoneyTaken& at, const std::string& why) {
    execute(tx, sql::end_payment, at.id, "returned", "");
    execute(tx, sql::give, at.payment.payer, at.payment.cents);
    return pawl::answer(422, NotMade{why});
}

// Moves money between two of our accounts, by the bank.
struct Transfer {
    static constexpr std::string_view name = "transfer";
    SharedBank bank;

    TakeMoney begin(pawl::Tx& tx, const pawl::Started<PaymentRequest>& at) {
        if (!pawl::query_maybe<Account>(tx, sql::find_account, at.request.payee))
            return pawl::refuse(422, NotMade{"there is no such payee"});
        return take(tx, at);
    }
    Paid pay(pawl::KeyedCall& call, const MoneyTaken& at) {
        return bank->transfer(call, at.payment);
    }
    std::string call_target(const MoneyTaken&) const { return bank->url(); }
    pawl::Finish keep(pawl::Tx& tx, const MoneyTaken& at, const Accepted& accepted) {
        execute(tx, sql::give, at.payment.payee, at.payment.cents);
        return end_payment(tx, at, accepted);
    }
    pawl::Finish refuse(pawl::Tx& tx, const MoneyTaken& at, const Refused& refused) {
        return give_back(tx, at, refused.why);
    }

    using Flow = pawl::Steps<
        pawl::Atomic<&Transfer::begin>,
        pawl::Foreign<
            pawl::Repeat::safe_with_key,
            &Transfer::pay,
            &Transfer::keep,
            &Transfer::refuse>>;
};
static_assert(pawl::checked<Transfer>());

// Sends a cheque to anybody. A second request would print a second cheque.
struct Cheque {
    static constexpr std::string_view name = "cheque";
    SharedBank bank;

    TakeMoney begin(pawl::Tx& tx, const pawl::Started<PaymentRequest>& at) { return take(tx, at); }
    Paid print(pawl::Call& call, const MoneyTaken& at) { return bank->cheque(call, at.payment); }
    std::string call_target(const MoneyTaken&) const { return bank->url(); }
    pawl::Finish keep(pawl::Tx& tx, const MoneyTaken& at, const Accepted& accepted) {
        return end_payment(tx, at, accepted);
    }
    pawl::Finish refuse(pawl::Tx& tx, const MoneyTaken& at, const Refused& refused) {
        return give_back(tx, at, refused.why);
    }
    pawl::Finish abandon(pawl::Tx& tx, const MoneyTaken& at, const pawl::Abandoned& why) {
        if (why.called_at)
            return pawl::answer(500, NotMade{"the cheque may have been printed: ask us"});
        return give_back(tx, at, "given up before the cheque was printed");
    }

    using Flow = pawl::Steps<
        pawl::Atomic<&Cheque::begin>,
        pawl::Foreign<pawl::Repeat::never, &Cheque::print, &Cheque::keep, &Cheque::refuse>>;
};
static_assert(pawl::checked<Cheque>());

struct Notifier {
    SharedBank bank;
    pawl::JobResult work(pawl::KeyedCall& call, const pawl::Job<Notice>& job) {
        return bank->notify(call, job.args);
    }
};

struct AccountName {
    std::string name;
};
struct ShowAccount {
    static constexpr std::string_view name = "show_account";
    pawl::Response answer(pawl::Snapshot& read, const pawl::Asked<AccountName>& at) {
        const auto found = pawl::query_maybe<Account>(read, sql::find_account, at.request.name);
        return found ? pawl::respond(200, *found) : pawl::respond(404, NotMade{"no such account"});
    }
};

inline void open_accounts(pawl::Tx& tx) {
    execute(tx, sql::open_account, "jane", 1000);
    execute(tx, sql::open_account, "joe", 0);
}
