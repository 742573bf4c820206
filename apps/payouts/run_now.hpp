#pragma once

#include "apps/payouts/cut_off.hpp"
#include "apps/payouts/fetch_reports.hpp"

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace payouts {

// The accounts that may steer the service.
using Operators = std::set<std::string, std::less<>>;

/// POST /cut-offs and POST /report-fetches: an operator does not wait for the time. Stages the same
/// job as the schedule does.
template <class Args>
class RunNow {
public:
    static constexpr std::string_view name =
        Args::kind == CutOff::kind ? "cut_off_now" : "fetch_now";
    static constexpr pawl::Settings settings{.key = pawl::KeyRule::optional};
    explicit RunNow(Operators operators) : operators_{std::move(operators)} {}

    struct Request {};
    using Started = pawl::Started<Request>;
    pawl::Next<pawl::Refusal> stage(pawl::Tx& tx, const Started& at);
    using Flow = pawl::Steps<pawl::Atomic<&RunNow::stage>>;

private:
    Operators operators_;
};
using CutOffNow = RunNow<CutOff>;
using FetchNow = RunNow<FetchReports>;

}  // namespace payouts
