// Returns in a NACHA file: batches of entries (6), each followed by its addenda records (7), the
// last of which has type 99 and names the reason and the original entry's trace number. Several
// files may follow each other in one.

#include <pawl/bank_file.hpp>

#include "src/bank/line_keys.hpp"
#include "src/bank/nacha_lines.hpp"
#include "src/bank/nacha_record.hpp"
#include "src/bank/report_check.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pawl::bank {

namespace {

constexpr std::size_t returns_bytes_max = std::size_t{64} * 1024 * 1024;
// Entries of other classes have the individual id in another place, or none.
constexpr std::array<std::string_view, 5> known_classes{"PPD", "CCD", "CTX", "WEB", "TEL"};

using Problem = std::optional<ReportProblem>;

std::string text_of(const NachaTotals& totals) {
    return std::to_string(totals.entries) + " records, hash " + std::to_string(totals.hash()) +
           ", debits " + std::to_string(totals.debits) + ", credits " +
           std::to_string(totals.credits);
}

// R60 to R79 are returns that were dishonored, and contests of that.
bool is_return_reason(std::string_view code) {
    if (code.size() != 3 || code.front() != 'R') return false;
    const auto number = number_at(code, 2, 3);
    return number && ((*number >= 1 && *number <= 59) || (*number >= 80 && *number <= 89));
}

bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

// An entry with what its addenda records say.
struct Entry {
    std::string code{};
    std::int64_t cents{};
    std::string individual{};
    std::string trace{};
    std::string reasons{};   // Of the addenda records of type 99: "R03".
    std::string change{};    // Of one of type 98: "C01 98765432".
    std::string original{};  // The original entry's trace number.
};

struct BatchKind {
    std::string_view sec_code;
    std::string_view description;
};
std::optional<SetAsideReason> problem_of(const Entry& entry, const BatchKind& batch) {
    if (!entry.change.empty())
        return SetAsideReason{"addenda 2-3, type 98", "a notification of change"};
    if (entry.reasons.empty())
        return SetAsideReason{"addenda 2-3, type 99", "no addenda record says that it came back"};
    if (!is_return_reason(entry.reasons))
        return SetAsideReason{"addenda 4-6, return reason", entry.reasons};
    // Codes 21 and 31 are returns of credits, as pawl::bank::write_nacha() makes them.
    if (entry.code != "21" && entry.code != "31")
        return SetAsideReason{"entry 2-3, transaction code of a returned credit", "not 21 or 31"};
    if (std::ranges::find(known_classes, batch.sec_code) == known_classes.end())
        return SetAsideReason{"batch header 51-53, entry class", std::string{batch.sec_code}};
    // The standard reserves these words: what came back was no payment.
    if (batch.description == "REVERSAL" || batch.description == "RECLAIM")
        return SetAsideReason{"batch header 54-63, description", std::string{batch.description}};
    if (entry.cents == 0) return SetAsideReason{"entry 30-39, amount", "zero, as of a prenote"};
    if (entry.individual.empty() || !is_printable(entry.individual))
        return SetAsideReason{"entry 40-54, individual id", "blank, or not printable ASCII"};
    return std::nullopt;
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
        if (state_ == State::ended && line.front() != '1') return filler(line);
        if (state_ == State::after_entry && line.front() != '7') end_entry();
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
        const auto blocks_of = [](std::size_t records) {
            return (records + records_a_block - 1) / records_a_block;
        };
        if (blocks_ == blocks_of(records_) || blocks_ == blocks_of(records_ + fillers_))
            return std::nullopt;
        return problem(
            "file control 8-13, block count",
            std::to_string(blocks_) + " blocks, but " + std::to_string(records_ + fillers_) +
                " records"
        );
    }
    Report take() {
        report_.message_id = first_message_;
        if (last_message_ != first_message_) report_.message_id += "+" + last_message_;
        return std::move(report_);
    }

private:
    enum class State { begun, in_file, in_batch, after_entry, ended };

    ReportProblem problem(std::string_view rule, std::string found) const {
        return {
            "NACHA " + std::string{rule}, "record " + std::to_string(number_) + ": " + found, {}};
    }
    Problem expect(State state, std::string_view record) {
        ++records_;
        if (state_ == state) return std::nullopt;
        return problem("order of records", std::string{record} + " is not allowed here");
    }

    Problem file_header(std::string_view line) {
        if (state_ == State::ended) {
            if (auto wrong = end()) return wrong;
            state_ = State::begun;
            file_ = {};
            batches_ = 0;
            records_ = fillers_ = 0;
        }
        if (auto wrong = expect(State::begun, "a file header")) return wrong;
        const auto modifier = upper_case(line[33]);
        if (number_of_modifier(modifier) == 0)
            return problem("file header 34, file ID modifier", "not A-Z or 0-9");
        // As blanks at the end may be missing, nothing else shows a header that is out of place.
        if (field(line, 35, 40) != "094101")
            return problem("file header 35-40, sizes and format", "not 094101");
        origin_ = trimmed(line, 14, 23);
        const auto date = std::string{field(line, 24, 29)};
        if (origin_.empty() || !number_at(line, 24, 29))
            return problem("file header 14-29, origin and date", "blank, or not digits");
        if (report_.sender.empty()) report_.sender = origin_;
        last_message_ = date + std::string{field(line, 30, 33)} + modifier;
        if (first_message_.empty()) first_message_ = last_message_;
        report_.numbers.push_back(number_for(date, modifier));
        state_ = State::in_file;
        return std::nullopt;
    }

    // A bank may begin a day with A, 0 or 1: letters and digits are counted apart.
    ReportNumber number_for(const std::string& date, char modifier) const {
        if (modifier >= 'A')
            return {.series = origin_ + " " + date, .number = number_of_modifier(modifier)};
        const std::int64_t digit = modifier - '0';
        return {
            .series = origin_ + " " + date + " 0-9",
            .number = digit,
            .first = std::min<std::int64_t>(digit, 1)};
    }

    Problem batch_header(std::string_view line) {
        if (auto wrong = expect(State::in_file, "a batch header")) return wrong;
        batch_ = {};
        batch_number_ = field(line, 88, 94);
        class_ = field(line, 51, 53);
        description_ = trimmed(line, 54, 63);
        ++batches_;
        state_ = State::in_batch;
        return std::nullopt;
    }

    Problem entry(std::string_view line) {
        if (auto wrong = expect(State::in_batch, "an entry")) return wrong;
        const auto code = number_at(line, 2, 3);
        const auto routing = number_at(line, 4, 11);
        const auto cents = number_at(line, 30, 39);
        if (!code || *code % 10 == 0 || !routing || !cents)
            return problem("entry 2-11 and 30-39", "not digits, or no transaction code");
        batch_.entries += 1;
        batch_.routing_sum += *routing;
        // 1 to 4 are credits to an account, 5 to 9 are debits.
        (*code % 10 < 5 ? batch_.credits : batch_.debits) += *cents;
        entry_ = {
            .code = std::string{field(line, 2, 3)},
            .cents = *cents,
            .individual = trimmed(line, 40, 54),
            .trace = std::string{field(line, 80, 94)}};
        state_ = State::after_entry;
        return std::nullopt;
    }

    // Other types than 98 and 99 repeat what was sent.
    Problem addenda(std::string_view line) {
        if (auto wrong = expect(State::after_entry, "an addenda record")) return wrong;
        batch_.entries += 1;
        const auto type = field(line, 2, 3);
        if (type != "98" && type != "99") return std::nullopt;
        if (field(line, 80, 94) != entry_.trace)
            return problem("addenda 80-94, trace number of its entry", "another trace number");
        entry_.original = field(line, 7, 21);
        const auto code = trimmed(line, 4, 6);
        if (type == "99")
            entry_.reasons += code.empty() ? "blank" : code;
        else
            entry_.change += code + " " + trimmed(line, 36, 64);
        return std::nullopt;
    }

    void end_entry() {
        state_ = State::in_batch;
        if (const auto reason = problem_of(entry_, {class_, description_})) {
            auto found = "entry " + entry_.trace + ", code " + entry_.code + " over " +
                         std::to_string(entry_.cents) + " cents: " + reason->why;
            if (!entry_.change.empty()) found += " " + entry_.change;
            report_.set_aside.push_back(
                {"NACHA " + std::string{reason->rule}, std::move(found), entry_.individual}
            );
            return;
        }
        // Trace numbers begin anew each day; the individual id is the payer's, and never does.
        const auto reference = entry_.trace + ":" + entry_.original + ":" + entry_.individual;
        report_.lines.push_back(
            {.what = ReportLine::What::returned,
             .key = keys_.key(reference, {}),
             .end_to_end_id = std::move(entry_.individual),
             .amount = entry_.cents,
             .currency = "USD",
             .reason = entry_.reasons,
             .account = origin_ == report_.sender ? "" : origin_}
        );
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

    struct Stated {
        std::optional<std::int64_t> entries, hash, debits, credits;
    };
    Problem compare(const NachaTotals& totals, const Stated& stated, std::string_view rule) const {
        if (stated.entries == totals.entries && stated.hash == totals.hash() &&
            stated.debits == totals.debits && stated.credits == totals.credits)
            return std::nullopt;
        return problem(
            std::string{rule} + ", counts and sums", "the records have " + text_of(totals)
        );
    }

    Problem filler(std::string_view line) {
        ++fillers_;
        if (std::all_of(line.begin(), line.end(), [](char c) { return c == '9'; }))
            return std::nullopt;
        return problem("filler of 9 after the file control", "another record");
    }

    static char upper_case(char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }

    State state_{State::begun};
    int number_{};
    Report report_;
    LineKeys keys_;
    std::string first_message_;
    // Of the file that is read:
    std::string last_message_;
    std::string origin_;
    NachaTotals file_;
    std::int64_t batches_{};
    std::size_t records_{};
    std::size_t fillers_{};
    std::size_t blocks_{};
    // Of the batch:
    NachaTotals batch_;
    std::string batch_number_;
    std::string class_;
    std::string description_;
    Entry entry_;
};

}  // namespace

ReadReport read_nacha_returns(std::string_view bytes) {
    if (bytes.size() > returns_bytes_max)
        return ReportProblem{"at most 64 MiB", "the file is larger", {}};
    ReturnsReader reader;
    Problem wrong;
    read_nacha_records(bytes, [&](std::string_view record) {
        wrong = reader.record(record);
        return !wrong;
    });
    if (!wrong) wrong = reader.end();
    auto report = reader.take();
    if (!wrong) return checked(std::move(report));
    wrong->numbers = std::move(report.numbers);
    return checked(std::move(*wrong));
}

}  // namespace pawl::bank
