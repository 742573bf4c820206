// The filters of `pawl dlq`: the words of a command line, their meaning, and that each queue gives
// them the same meaning. A command is carried out or refused, and a refused one has changed no row;
// `list` shows, and `purge` and `merge` act on, exactly the dead letters that the words select.
//
// The input has one word per line, after "dlq": list, merge, purge or show, and its options.
// `export` and --to are left out, because they write files.

#include <pawl/command_line.hpp>
#include <pawl/detail/rows.hpp>

#include "src/base/text.hpp"
#include "src/ops/service_impl.hpp"
#include "src/queue/kafka/dead_letter_filter.hpp"
#include "src/queue/redis/dead_letter_id.hpp"
#include "src/store/blocking.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

namespace {

using namespace pawl;
using queue::DeadLetter;
using queue::DeadLetterFilter;
using Ids = std::set<std::string>;

// Their ages are far apart, so that a second more or less does not matter.
constexpr const char* tables_filled =
    "WITH given (id, queue, kind, failures, age, last_error, error_kind) AS (VALUES"
    " (1, 'mails', 'send_receipt', 6, '-30 seconds', 'ride 17 is away', 'ride # is away'),"
    " (2, 'mails', 'send_receipt', 5, '-20 minutes', 'HTTP 503', 'HTTP 503'),"
    " (3, 'mails', '', 1, '-20 minutes', 'its arguments do not decode: ', 'its arguments do not "
    "decode: '),"
    " (4, 'default', 'send_receipt', 0, '-5 hours', NULL, ''),"
    " (5, 'default', 'Sync::Rider', 25, '-5 hours', 'it''s \"50%\" _away_', 'it''s \"?\" _away_'),"
    " (6, 'größe', 'nach_links', 2, '-40 hours', 'zu groß: 7 €', 'zu groß: # €'),"
    " (7, 'a,b', '[x]', 3, '-9 days', 'a' || char(10) || 'b', 'a'),"
    " (8, '-q', '--kind', 4, '-400 days', '', ''))"
    " INSERT INTO pawl_dead_jobs (id, jid, queue, kind, args, attempt, failures, created_at, "
    "last_error, history,"
    " error_kind, died_at)"
    " SELECT id, 'jid' || id, queue, kind, '{}', 1, failures, '2026-01-01T00:00:00.000Z', "
    "last_error, '[]',"
    " error_kind, strftime('%Y-%m-%dT%H:%M:%fZ', 'now', age) FROM given";

// One database for all inputs; changed dead letters are restored.
class World {
public:
    World() { lay_out(); }
    void lay_out() {
        static const Sql texts[]{
            {"fuzz_jobs", "DELETE FROM pawl_jobs", {}},
            {"fuzz_audit", "DELETE FROM pawl_audit_log", {}},
            {"fuzz_dead", "DELETE FROM pawl_dead_jobs", {}},
            {"fuzz_fill", tables_filled, {}}};
        store::write_now(database_->store(), [&](store::Session& session) {
            for (const auto& text : texts) session.run(text, {}, [](const detail::Row&) {});
        });
    }
    Service& service() { return service_; }
    std::vector<DeadLetter> letters() {
        return service_.impl().queue.dead_letters->page({}, "", 1'000);
    }

private:
    std::unique_ptr<Database> database_ = Database::open("memory:");
    Service service_{*database_};
};

World& world() {
    static auto* const one = new World;  // Never destroyed: its end would take time.
    return *one;
}

struct Ran {
    int status{};
    bool opened{};
    std::string out;
};

Ran run(const std::vector<std::string>& words) {
    Ran ran;
    std::ostringstream out, error;
    const CommandLine line{
        .program = "pawl",
        .options_help = {},
        .open = [&](Database::As) -> Service& {
            ran.opened = true;
            return world().service();
        },
        .user = "ann",
        .knows_operations = false};
    ran.status = command_line(line, words, out, error);
    ran.out = out.str();
    PAWL_ASSERT(ran.status >= 0 && ran.status <= 2);
    PAWL_ASSERT(ran.status == 0 || !error.str().empty() || !ran.out.empty());
    if (ran.status == 2) PAWL_ASSERT(!ran.opened);
    return ran;
}

// Reads digits and a unit by other code than the command's. A count with a leading 0 is refused, as
// it may be meant as octal (input leading_zero); in an age it is harmless.
std::optional<std::int64_t> digits_of(std::string_view text, std::int64_t most) {
    std::int64_t value = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end || text.front() == '-' || value > most)
        return std::nullopt;
    return value;
}
std::optional<std::int64_t> seconds_of(std::string_view text) {
    constexpr std::string_view units{"smhd"};
    constexpr std::int64_t lengths[]{1, 60, 3'600, 86'400};
    constexpr std::int64_t count_max = std::numeric_limits<std::int64_t>::max() / 86'400;
    if (text.empty()) return std::nullopt;
    const auto unit = units.find(text.back());
    if (unit == units.npos) return std::nullopt;
    const auto count = digits_of(text.substr(0, text.size() - 1), count_max);
    return count ? std::optional{*count * lengths[unit]} : std::nullopt;
}

struct Meaning {
    DeadLetterFilter filter;
    std::optional<std::int64_t> older_s;
    std::optional<std::int64_t> younger_s;
    std::set<std::string_view> seen;
};

bool read_word(Meaning& to, std::string_view name, std::string_view value) {
    auto& filter = to.filter;
    const std::string text{value};
    if (value.empty() || !to.seen.insert(name).second) return false;
    if (name == "--queue-name") return filter.queue = text, true;
    if (name == "--kind") return filter.kind = text, true;
    if (name == "--error") return filter.error = text, true;
    if (name == "--error-kind") return filter.error_kind = text, true;
    if (name == "--failures-min") {
        const auto n = digits_of(value, 1'000'000);
        if (!n || (value.size() > 1 && value.front() == '0')) return false;
        return filter.failures_min = static_cast<int>(*n), true;
    }
    if (name == "--older-than") return (to.older_s = seconds_of(value)).has_value();
    if (name == "--younger-than") return (to.younger_s = seconds_of(value)).has_value();
    return false;
}

// The meaning of the words, if all are such filters, each as NAME=VALUE.
std::optional<Meaning> meaning_of(const std::vector<std::string>& words) {
    Meaning meaning;
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (!base::is_utf8(words[i])) return std::nullopt;
        const auto [name, value] = fuzz::cut_at(words[i], "=");
        if (!read_word(meaning, name, value)) return std::nullopt;
    }
    return meaning;
}

// By the code of each queue without SQL; the command uses SQL.
Ids meant_by(const Meaning& meaning, TimePoint now, const std::vector<DeadLetter>& letters) {
    auto filter = meaning.filter;
    constexpr std::int64_t longest = 100LL * 366 * 86'400;
    const auto ago = [&](std::int64_t s) {
        return now - std::chrono::seconds{std::min(s, longest)};
    };
    if (meaning.older_s) filter.died_before = ago(*meaning.older_s);
    if (meaning.younger_s) filter.died_since = ago(*meaning.younger_s);
    Ids ids;
    for (const auto& letter : letters) {
        const bool meant = queue::kafka::matches(filter, letter);
        PAWL_ASSERT(meant == queue::sidekiq::is_meant(letter, filter));
        if (meant) ids.insert(letter.id);
    }
    return ids;
}

Ids ids_in(const std::string& json) {
    Ids ids;
    const auto rows = boost::json::parse(json);
    for (const auto& row : rows.as_array()) ids.insert(std::string{row.at("id").as_string()});
    return ids;
}

Ids ids_of(const std::vector<DeadLetter>& letters) {
    Ids ids;
    for (const auto& letter : letters) ids.insert(letter.id);
    return ids;
}

void check_meaning(std::vector<std::string> words, const Meaning& meaning) {
    const auto letters = world().letters();
    auto& clock = world().service().engine().clock();
    const auto expected = meant_by(meaning, clock.now(), letters);
    const auto verb = words[0];
    words.insert(words.begin(), "dlq");
    words.emplace_back("--json");
    if (verb == "list") words.emplace_back("--limit=10000");
    if (verb != "list") words.insert(words.end(), {"--reason=fuzz", "--all"});
    const auto ran = run(words);
    // A dead letter reached the age meanwhile.
    if (meant_by(meaning, clock.now(), letters) != expected) return;
    const bool too_long =
        std::max(meaning.older_s.value_or(0), meaning.younger_s.value_or(0)) > 100LL * 365 * 86'400;
    PAWL_ASSERT(ran.status == (too_long ? 2 : 0));
    if (too_long) return;
    if (verb == "list") {
        PAWL_ASSERT(ids_in(ran.out) == expected);
        return;
    }
    Ids left = ids_of(letters);
    for (const auto& id : expected) left.erase(id);
    PAWL_ASSERT(ids_of(world().letters()) == left);
    const auto done = boost::json::parse(ran.out).at("done").to_number<std::size_t>();
    PAWL_ASSERT(done == expected.size());
}

bool is_asked(const std::string& word) {
    return word.find('\0') == word.npos && word != "export" && !word.starts_with("--to");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::string> words;
    for (const auto line : fuzz::lines_of(fuzz::text_of(data, size))) words.emplace_back(line);
    if (words.empty() || !std::all_of(words.begin(), words.end(), is_asked)) return 0;
    const bool changes = words[0] == "merge" || words[0] == "purge";
    if (const auto meaning = changes || words[0] == "list" ? meaning_of(words) : std::nullopt) {
        check_meaning(words, *meaning);
    } else {
        const auto before = ids_of(world().letters());
        words.insert(words.begin(), "dlq");
        const auto ran = run(words);
        if (!changes || (ran.status != 0 && ran.out.empty()))
            PAWL_ASSERT(ids_of(world().letters()) == before);
    }
    if (changes) world().lay_out();
    return 0;
}
