#pragma once

#include "src/bank/nacha_record.hpp"
#include "src/bank/testing_golden.hpp"

#include <string>
#include <vector>

// Files of returns, with right totals, for tests.
namespace pawl::bank {

struct NachaAddenda {
    std::string type{};
    std::string code{};
};
struct NachaEntry {
    std::string id{};
    std::string code{"21"};
    std::int64_t cents{1250};
    std::vector<NachaAddenda> addenda{{"99", "R03"}};
    std::string name{"Jane Roe"};
};
struct NachaBatch {
    std::string sec_code{};
    std::vector<NachaEntry> entries{};
    std::string description{"PAYOUT"};
};

// Without line ends, and without filler.
inline std::vector<std::string> nacha_records(
    const std::vector<NachaBatch>& batches, char modifier = 'A'
) {
    const auto totals = [](const NachaTotals& of, RecordWriter& to) {
        to.number(of.hash(), 10).number(of.debits, 12).number(of.credits, 12);
    };
    std::vector<std::string> records;
    const auto add = [&](const RecordWriter& one) {
        records.push_back(one.line());
        records.back().pop_back();
    };
    add(RecordWriter{}
            .text("101 123456780 0910000192612010930" + std::string{modifier} + "094101", 40)
            .text("Rocket Rides", 23)
            .text("The bank", 31));
    NachaTotals file;
    std::int64_t trace = 0;
    for (std::size_t i = 0; i < batches.size(); ++i) {
        const auto number = static_cast<std::int64_t>(i + 1);
        add(RecordWriter{}
                .text("5200Rocket Rides", 40)
                .text("1234567890" + batches[i].sec_code + batches[i].description, 29)
                .text("2611303351091000" + std::string{"01"}, 18)
                .number(number, 7));
        NachaTotals batch;
        for (const auto& entry : batches[i].entries) {
            const auto end =
                "02100002" + std::string{"0000000"}.replace(6, 1, std::to_string(++trace));
            add(RecordWriter{}
                    .text("6" + entry.code + "021000021123456789", 29)
                    .number(entry.cents, 10)
                    .text(entry.id, 15)
                    .text(entry.name, 24)
                    .text(entry.addenda.empty() ? "0" : "1", 1)
                    .text(end, 15));
            for (const auto& one : entry.addenda)
                add(RecordWriter{}
                        .text("7" + one.type + one.code + "091000010000001", 79)
                        .text(one.type == "05" ? "    0001" + end.substr(8) : end, 15));
            batch.entries += 1 + static_cast<std::int64_t>(entry.addenda.size());
            batch.routing_sum += 2'100'002;
            (entry.code[1] < '5' ? batch.credits : batch.debits) += entry.cents;
        }
        RecordWriter control;
        control.text("8200", 4).number(batch.entries, 6);
        totals(batch, control);
        add(control.text("1234567890", 35).text("09100001", 8).number(number, 7));
        file.add(batch);
    }
    RecordWriter control;
    control.text("9", 1).number(static_cast<std::int64_t>(batches.size()), 6);
    control.number(static_cast<std::int64_t>(records.size() / records_a_block + 1), 6);
    control.number(file.entries, 8);
    totals(file, control);
    add(control.text("", 39));
    return records;
}

inline std::string joined(const std::vector<std::string>& records, const std::string& end = "\n") {
    std::string text;
    for (const auto& record : records) text += record + end;
    return text;
}

}  // namespace pawl::bank
