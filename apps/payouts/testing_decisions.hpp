#pragma once

#include <pawl/testing.hpp>

#include "apps/payouts/cancel_file.hpp"
#include "apps/payouts/cut_off.hpp"
#include "apps/payouts/decide_report.hpp"
#include "apps/payouts/sent_file.hpp"
#include "payouts/migrations.hpp"
#include "payouts/statements.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace payouts::decisions_test {

using pawl::bank::Report;
using pawl::bank::ReportLine;
using pawl::bank::ReportProblem;
using pawl::testing::TestDatabase;

inline const Decider ann{.by = "ann", .reason = "the bank says so"};

class DecisionsTest : public ::testing::Test {
protected:
    static Settings settings() {
        Settings made;
        made.iso20022 =
            Settings::Iso20022{"Rocket Rides", "DE89370400440532013000", {}, "EUR", {}, {}};
        return made;
    }
    // As a release without its checks accepted it.
    void insert_payout(const std::string& id, const std::string& name = "Jane") {
        database.in_tx([&](pawl::Tx& tx) {
            pawl::execute(
                tx,
                sql::insert_payout,
                tx.now(),
                std::string{"payouts"},
                std::string{"shop"},
                ++key,
                id,
                std::int64_t{1'000},
                std::string{"EUR"},
                name,
                std::string{"GB29NWBK60161331926819"},
                std::optional<std::string>{},
                std::string{}
            );
        });
    }
    void cut_off() {
        database.in_tx([&](pawl::Tx& tx) { CutOffWorker{format}.work(tx, pawl::Job<CutOff>{}); });
    }
    // File `number` as it was sent, with these payouts of 10.00.
    SentFile sent(std::int64_t number, const std::vector<std::string>& ids) const {
        std::vector<Payment> payments;
        for (const auto& id : ids)
            payments.push_back(
                {.end_to_end_id = id,
                 .amount = 1'000,
                 .currency = "EUR",
                 .creditor_name = "Jane",
                 .creditor_account = "GB29NWBK60161331926819",
                 .routing_number = {},
                 .reference = ""}
            );
        return read_sent_file(
            format,
            format.file_name(number),
            format.write({.number = number, .number_of_day = 1}, payments)
        );
    }
    void send(std::int64_t number) {
        database.in_tx([&](pawl::Tx& tx) {
            pawl::execute(tx, sql::keep_sent, number, tx.now());
            pawl::execute(tx, sql::mark_sent, number);
        });
    }
    std::int64_t insert_report(const std::string& bytes) {
        return database.in_tx([&](pawl::Tx& tx) {
            const auto hash = pawl::bank::sha256(bytes);
            pawl::execute(tx, sql::insert_report, hash, "r.xml", bytes_of(bytes), tx.now());
            const auto id = pawl::query_one<std::int64_t>(tx, sql::find_report_of_hash, hash);
            pawl::execute(tx, sql::keep_stopped, id, std::string{"a rule"}, std::string{"x"});
            return id;
        });
    }
    static Report report(std::int64_t number, std::vector<ReportLine> lines) {
        return {"bank", "M" + std::to_string(number), {{"bank", number}}, std::move(lines)};
    }
    static ReportLine line(const std::string& id, std::int64_t amount = 1'000) {
        return {ReportLine::What::paid, "ref:" + id, id, amount, "EUR", ""};
    }
    std::string state(const std::string& id) {
        struct Row {
            std::int64_t id{};
            std::string state;
            std::int64_t amount{};
            std::string currency;
        };
        return database.in_tx([&](pawl::Tx& tx) {
            return pawl::query_one<Row>(tx, sql::find_payout_of_end_to_end, id).state;
        });
    }
    // "": the act is done.
    std::string refusal(const std::function<void(pawl::Tx&)>& act) {
        try {
            database.in_tx(act);
            return "";
        } catch (const Refused& refused) {
            return refused.why;
        }
    }
    std::int64_t next(const std::string& series = "bank") {
        return database.in_tx([&](pawl::Tx& tx) {
            return next_number(tx, {.name = series, .first = 1});
        });
    }
    void settle(std::int64_t id, const StoredReport& stored, const LinesByHand& by_hand = {}) {
        database.in_tx([&](pawl::Tx& tx) {
            settled = settle_report(tx, id, stored, read_lines(by_hand), 1, ann);
        });
    }

    TestDatabase database{"payouts", sql::migrations::all};
    BankFormat format{settings()};
    std::int64_t key{};
    SettledReport settled;
};

}  // namespace payouts::decisions_test
