#pragma once

#include <pawl/call.hpp>
#include <pawl/job.hpp>
#include <pawl/tx.hpp>

#include "apps/rides/rides.hpp"
#include "src/http/transfer.hpp"

#include <string>
#include <string_view>

namespace rides {

struct SendReceipt {
    static constexpr std::string_view kind = "send_receipt";
    RideId ride{};
    std::int64_t amount{};
    std::string currency;
    std::string email;
};

// Points of the frequent fliers, one for each dollar.
struct AddPoints {
    static constexpr std::string_view kind = "add_points";
    std::int64_t user{};
    std::int64_t points{};
};

// Its write and the mark that the job is done commit together: points are added once, whatever dies
// in between.
class PointsWorker {
public:
    pawl::JobResult work(pawl::Tx& tx, const pawl::Job<AddPoints>& job);
};

// Mails receipts. SMTP knows no keys: a kill between the mail server's 250 and our mark repeats the
// mail, under the same Message-ID, which is made from the job's id.
class ReceiptWorker {
public:
    ReceiptWorker(
        pawl::http::Transfers& transfers, std::string smtp_url
    );  // Transfers outlives it.
    pawl::JobResult work(pawl::Call& call, const pawl::Job<SendReceipt>& job);

private:
    pawl::http::Transfers& transfers_;
    std::string smtp_url_;
};

}  // namespace rides
