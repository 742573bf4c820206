#pragma once

#include <pawl/client.hpp>
#include <pawl/outcome.hpp>

#include <cstdint>
#include <string>

namespace transfers {

// What our service asks another bank to do, and how that may end.
struct Payment {
    std::string payee;
    std::int64_t cents{};
};
struct Accepted {
    std::string reference;
};
struct Refused {
    std::string why;
};
using PaymentOutcome = pawl::Outcome<Accepted, Refused>;

// Another bank. Chapter 5 tests with a fake one.
class Bank {
public:
    Bank() = default;
    virtual ~Bank() = default;
    Bank(const Bank&) = delete;
    Bank& operator=(const Bank&) = delete;

    virtual PaymentOutcome pay(pawl::KeyedCall& call, const Payment& payment) = 0;
    virtual PaymentOutcome pay_once(
        pawl::Call& call, const Payment& payment
    ) = 0;  // Without a key.
    virtual std::string name() const = 0;
};

class HttpBank final : public Bank {
public:
    explicit HttpBank(std::string url) : client_{{.url = std::move(url)}} {}

    PaymentOutcome pay(pawl::KeyedCall& call, const Payment& payment) override;
    PaymentOutcome pay_once(pawl::Call& call, const Payment& payment) override;
    std::string name() const override { return client_.options().url; }

private:
    pawl::Client client_;
};

// By the environment: BANK, or a bank on this machine.
std::string bank_url();

}  // namespace transfers
