// Returns in a NACHA file: batches of entries (6), each followed by its addenda record of type 99
// (7), which names the reason and the original entry's trace number.

#include <pawl/bank_file.hpp>

#include "src/bank/line_keys.hpp"
#include "src/bank/nacha_record.hpp"
#include "src/bank/report_check.hpp"

#include <algorithm>
#include <utility>

namespace pawl::bank {

namespace {

constexpr std::size_t returns_bytes_max = std::size_t{64} * 1024 * 1024;

using Problem = std::optional<ReportProblem>;

std::string text_of(const NachaTotals& totals) {
    return std::to_string(totals.entries) + " records, hash " + std::to_string(totals.hash()) +
           ", debits " + std::to_string(totals.debits) + ", credits " +
           std::to_string(totals.credits);
}

// One pass over the records, in the order that the standard requires.
class ReturnsReader {
public:
    Problem record(std::string_view line) {
        ++number_;
        if (line.size() != record_size)
            return problem(
                "record of 94 characters", "it has " + std::to_string(line.size()) + " characters"
            );
        if (number_ > 1 && state_ == State::ended) return filler(line);
        switch (line.front()) {
            case '1':
                return file_header(line);
            case '5':
                return batch_header(line);
            case '6':
                return entry(line);
            case '7':
                return addenda(line);
            case '8':
                return batch_control(line);
            case '9':
                return file_control(line);
            default:
                return problem(
                    "record type 1, 5, 6, 7, 8 or 9", "it begins with another character"
                );
        }
    }
    Problem end() {
        if (state_ != State::ended) return problem("file control 9", "the file ends before it");
        if (static_cast<std::size_t>(number_) != blocks_ * records_a_block)
            return problem(
                "file control 8-13, block count",
                std::to_string(blocks_) + " blocks, but " + std::to_string(number_) + " records"
            );
        return std::nullopt;
    }
    Report take() { return std::move(report_); }

private:
    enum class State { begun, in_file, in_batch, after_entry, ended };

    ReportProblem problem(std::string_view rule, std::string found) const {
        return {
            "NACHA " + std::string{rule}, "record " + std::to_string(number_) + ": " + found, {}};
    }
    Problem expect(State state, std::string_view record) const {
        if (state_ == state) return std::nullopt;
        return problem("order of records", std::string{record} + " is not allowed here");
    }

    Problem file_header(std::string_view line) {
        if (auto wrong = expect(State::begun, "a file header")) return wrong;
        const auto modifier = number_of_modifier(line[33]);
        if (modifier == 0) return problem("file header 34, file ID modifier", "not A-Z or 0-9");
        report_.sender = trimmed(line, 14, 23);
        report_.sender.erase(0, report_.sender.find_first_not_of(' '));
        const auto date = std::string{field(line, 24, 29)};
        if (report_.sender.empty() || !number_at(line, 24, 29))
            return problem("file header 14-29, origin and date", "blank, or not digits");
        report_.message_id = date + std::string{field(line, 30, 34)};
        report_.numbers = {{report_.sender + " " + date, modifier}};
        state_ = State::in_file;
        return std::nullopt;
    }

    Problem batch_header(std::string_view line) {
        if (auto wrong = expect(State::in_file, "a batch header")) return wrong;
        batch_ = {};
        batch_number_ = field(line, 88, 94);
        ++batches_;
        state_ = State::in_batch;
        return std::nullopt;
    }

    // Codes 21 and 31 are returns of credits, as pawl::bank::write_nacha() makes them.
    Problem entry(std::string_view line) {
        if (auto wrong = expect(State::in_batch, "an entry")) return wrong;
        const auto code = field(line, 2, 3);
        const auto routing = number_at(line, 4, 11);
        const auto cents = number_at(line, 30, 39);
        if (code != "21" && code != "31")
            return problem(
                "entry 2-3, transaction code of a returned credit", "code " + std::string{code}
            );
        if (!routing || !cents) return problem("entry 4-11 and 30-39", "not digits");
        if (line[78] != '1') return problem("entry 79, addenda indicator of a return", "not 1");
        batch_.entries += 1;
        batch_.routing_sum += *routing;
        batch_.credits += *cents;
        entry_ = line;
        state_ = State::after_entry;
        return std::nullopt;
    }

    Problem addenda(std::string_view line) {
        if (auto wrong = expect(State::after_entry, "an addenda record")) return wrong;
        if (field(line, 2, 3) != "99")
            return problem(
                "addenda 2-3, type 99 of a return", "type " + std::string{field(line, 2, 3)}
            );
        if (field(line, 80, 94) != field(entry_, 80, 94))
            return problem("addenda 80-94, trace number of its entry", "another trace number");
        batch_.entries += 1;
        auto individual = trimmed(entry_, 40, 54);
        // Trace numbers begin anew each day; the individual id is the payer's, and never does.
        const auto reference = std::string{field(line, 80, 94)} + ":" +
                               std::string{field(line, 7, 21)} + ":" + individual;
        report_.lines.push_back(
            {.what = ReportLine::What::returned,
             .key = keys_.key(reference, {}),
             .end_to_end_id = std::move(individual),
             .amount = *number_at(entry_, 30, 39),
             .currency = "USD",
             .reason = trimmed(line, 4, 6)}
        );
        state_ = State::in_batch;
        return std::nullopt;
    }

    Problem batch_control(std::string_view line) {
        if (auto wrong = expect(State::in_batch, "a batch control")) return wrong;
        if (field(line, 88, 94) != batch_number_)
            return problem("batch control 88-94, number of its batch", "another number");
        if (auto wrong = compare(
                batch_,
                {number_at(line, 5, 10),
                 number_at(line, 11, 20),
                 number_at(line, 21, 32),
                 number_at(line, 33, 44)},
                "batch control 5-44"
            ))
            return wrong;
        file_.add(batch_);
        state_ = State::in_file;
        return std::nullopt;
    }

    Problem file_control(std::string_view line) {
        if (auto wrong = expect(State::in_file, "a file control")) return wrong;
        if (number_at(line, 2, 7) != batches_)
            return problem(
                "file control 2-7, batch count", "the file has " + std::to_string(batches_)
            );
        blocks_ = static_cast<std::size_t>(number_at(line, 8, 13).value_or(0));
        state_ = State::ended;
        return compare(
            file_,
            {number_at(line, 14, 21),
             number_at(line, 22, 31),
             number_at(line, 32, 43),
             number_at(line, 44, 55)},
            "file control 14-55"
        );
    }

    struct Told {
        std::optional<std::int64_t> entries, hash, debits, credits;
    };
    Problem compare(const NachaTotals& totals, const Told& told, std::string_view rule) const {
        if (told.entries == totals.entries && told.hash == totals.hash() &&
            told.debits == totals.debits && told.credits == totals.credits)
            return std::nullopt;
        return problem(
            std::string{rule} + ", counts and sums", "the records have " + text_of(totals)
        );
    }

    Problem filler(std::string_view line) const {
        if (std::all_of(line.begin(), line.end(), [](char c) { return c == '9'; }))
            return std::nullopt;
        return problem("filler of 9 after the file control", "another record");
    }

    State state_{State::begun};
    int number_{};
    Report report_;
    LineKeys keys_;
    NachaTotals batch_;
    NachaTotals file_;
    std::int64_t batches_{};
    std::size_t blocks_{};
    std::string_view batch_number_;
    std::string_view entry_;
};

}  // namespace

ReadReport read_nacha_returns(std::string_view bytes) {
    if (bytes.size() > returns_bytes_max)
        return ReportProblem{"at most 64 MiB", "the file is larger", {}};
    ReturnsReader reader;
    Problem wrong;
    while (!bytes.empty() && !wrong) {
        const auto end = std::min(bytes.find('\n'), bytes.size());
        auto line = bytes.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
        wrong = reader.record(line);
    }
    if (!wrong) wrong = reader.end();
    auto report = reader.take();
    if (!wrong) return checked(std::move(report));
    wrong->numbers = std::move(report.numbers);
    return checked(std::move(*wrong));
}

}  // namespace pawl::bank
