#include "src/queue/redis/redis_dead_letters.hpp"

#include <pawl/detail/json.hpp>
#include <pawl/detail/rows.hpp>

#include "src/core/fault.hpp"
#include "src/queue/audit.hpp"
#include "src/queue/redis/dead_letter_id.hpp"
#include "src/queue/redis/payload.hpp"
#include "src/queue/redis/score_scan.hpp"
#include "src/queue/redis/scripts.hpp"
#include "src/redis/connection.hpp"
#include "store/statements.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace pawl::queue {

using redis::Access;
using redis::Command;
using redis::Reply;
using sidekiq::DeadLetterId;
namespace scripts = sidekiq::scripts;

namespace {

using Ids = std::span<const std::string>;

constexpr std::size_t step_bytes = std::size_t{64} << 20U;

struct Found {
    std::string member;  // If it is large, only its beginning.
    DeadLetter letter;
    bool large{};
};

DeadLetterId place_of(const sidekiq::ScoredMember& one) {
    return one.large ? sidekiq::large_dead_letter_id(one.score, one.large->sha1)
                     : sidekiq::dead_letter_id_of(one.score, one.member);
}

Found found_of(sidekiq::ScoredMember one, const DeadLetterId& place) {
    const sidekiq::PayloadDefaults defaults{{}, place.died_at()};
    auto letter = one.large ? sidekiq::large_letter(one.member, one.large->size, defaults)
                            : sidekiq::letter_of(one.member, defaults);
    letter.id = place.id();
    letter.died_at = place.died_at();
    return {std::move(one.member), std::move(letter), one.large.has_value()};
}

// Walks the set from a score on, chunk by chunk, in the order of ids. Within one microsecond Redis
// orders by bytes, but ids by their hash.
class DeadLetterScan {
public:
    DeadLetterScan(redis::Client& client, std::string from, std::string to = "+inf")
        : scan_{client, "dead", std::move(from), std::move(to), sidekiq::payload_max} {}

    // The dead jobs of the next microsecond that has any; empty at the end.
    std::vector<Found> next() {
        std::vector<std::pair<DeadLetterId, sidekiq::ScoredMember>> together;
        while (at_ < read_.size() || read()) {
            auto place = place_of(read_[at_]);
            if (!together.empty() && together.front().first.micros != place.micros) break;
            together.emplace_back(std::move(place), std::move(read_[at_++]));
        }
        std::vector<Found> found;
        for (auto& [place, one] : together) found.push_back(found_of(std::move(one), place));
        std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
            return a.letter.id < b.letter.id;
        });
        return found;
    }

private:
    bool read() {
        read_ = scan_.next();
        at_ = 0;
        return !read_.empty();
    }

    sidekiq::ScoreScan scan_;
    std::vector<sidekiq::ScoredMember> read_;
    std::size_t at_{0};
};

std::optional<Found> look_up(redis::Client& client, const std::string& id) {
    const auto place = sidekiq::parse_dead_letter_id(id);
    if (!place) return std::nullopt;
    DeadLetterScan scan{client, place->least_score(), place->most_score()};
    for (auto found = scan.next(); !found.empty(); found = scan.next())
        for (auto& one : found)
            if (one.letter.id == id) return std::move(one);
    return std::nullopt;
}

// Those that exist, each once, by ascending id; many in one packet.
std::vector<Found> look_up(redis::Client& client, Ids ids) {
    std::vector<DeadLetterId> places;
    for (const auto& id : std::set<std::string>{ids.begin(), ids.end()})
        if (auto place = sidekiq::parse_dead_letter_id(id)) places.push_back(std::move(*place));
    std::vector<Found> found;
    for (std::size_t at = 0; at < places.size(); at += sidekiq::scan_chunk) {
        const auto pack = std::span{places}.subspan(
            at, std::min<std::size_t>(sidekiq::scan_chunk, places.size() - at)
        );
        std::vector<Command> commands;
        for (const auto& place : pack)  // Mostly one: two deaths in one microsecond are rare.
            commands.push_back(
                {"EVAL",
                 std::string{scripts::score_page.text},
                 "1",
                 "dead",
                 place.least_score(),
                 place.most_score(),
                 "0",
                 "1",
                 "1",
                 std::to_string(sidekiq::payload_max)}
            );
        const auto replies = client.ask_all("redis dead", commands, Access::read);
        for (std::size_t i = 0; i < pack.size(); ++i) {
            const auto& items = replies[i].items;
            std::optional<sidekiq::ScoredMember> first;
            if (items.size() == 2) first = sidekiq::scored_member(items[0].text, items[1].text);
            auto one = first && place_of(*first).id() == pack[i].id()
                           ? std::optional{found_of(std::move(*first), pack[i])}
                           : look_up(client, pack[i].id());
            if (one) found.push_back(std::move(*one));
        }
    }
    return found;
}

struct AuditDetail {
    std::string reason;
    std::vector<std::string> jobs;
    std::vector<std::string> jids;
};

void write_audit(
    store::Store& store,
    const AuditEntry& act,
    std::string_view action,
    const std::vector<Found>& found
) {
    AuditDetail detail{act.reason, {}, {}};
    for (const auto& one : found) {
        detail.jobs.push_back(one.letter.id);
        detail.jids.push_back(one.letter.jid);
    }
    const auto text = detail::encode(detail);
    store::write_now(store, [&](store::Session& session) {
        queue::audit(session, act.by, action, text);
    });
}

// Runs the script in batches over the arguments that `words` gives for each; returns the count.
int run_in_batches(
    redis::Client& client,
    const redis::Script& script,
    const Command& keys,
    const std::vector<Found>& found,
    const std::function<Command(const Found&)>& words
) {
    int done = 0;
    Command arguments;
    std::size_t bytes = 0;
    const auto step = [&] {
        if (!arguments.empty())
            done += static_cast<int>(client.run(script, keys, arguments).integer);
        arguments.clear();
        bytes = 0;
    };
    for (const auto& one : found) {
        if (one.large) continue;
        for (auto& word : words(one)) {
            bytes += word.size();
            arguments.push_back(std::move(word));
        }
        if (bytes >= step_bytes) step();
    }
    step();
    return done;
}

// Acts on those that are too large to be read, where they are; returns the count.
int take_large(redis::Client& client, const std::vector<Found>& found, const std::string& queue) {
    Command arguments{queue, std::to_string(sidekiq::payload_max)};
    for (const auto& one : found) {
        if (!one.large) continue;
        const auto place = *sidekiq::parse_dead_letter_id(one.letter.id);
        arguments.insert(arguments.end(), {place.least_score(), place.most_score(), place.digest});
    }
    if (arguments.size() == 2) return 0;
    return static_cast<int>(client.run(scripts::take_large, {"dead", "queues"}, arguments).integer);
}

PurgeResult done_of(Ids ids, int done, int forgotten) {
    return {done, static_cast<int>(ids.size()) - done - forgotten, forgotten};
}

}  // namespace

std::vector<DeadLetter> RedisDeadLetters::page(
    const DeadLetterFilter& filter, const std::string& after, int limit
) {
    const auto place = sidekiq::parse_dead_letter_id(after);
    std::vector<DeadLetter> letters;
    DeadLetterScan scan{client_, place ? place->least_score() : "-inf"};
    for (auto found = scan.next(); !found.empty(); found = scan.next())
        for (auto& [member, letter, large] : found) {
            if (letters.size() >= static_cast<std::size_t>(std::max(limit, 0))) return letters;
            if ((place && letter.id <= after) || !sidekiq::is_meant(letter, filter)) continue;
            letters.push_back(std::move(letter));
        }
    return letters;
}

std::vector<DeadLetterGroup> RedisDeadLetters::groups(const DeadLetterFilter& filter) {
    std::map<std::tuple<std::string, std::string, std::string>, DeadLetterGroup> groups;
    DeadLetterScan scan{client_, "-inf"};
    for (auto found = scan.next(); !found.empty(); found = scan.next())
        for (const auto& [member, letter, large] : found) {
            if (!sidekiq::is_meant(letter, filter)) continue;
            auto& group = groups[{letter.queue, letter.kind, letter.error_kind}];
            if (group.count++ == 0)
                group = {letter.queue, letter.kind, letter.error_kind, 1, letter.died_at, {}, {}};
            group.last_died_at = letter.died_at;
            group.sample = letter.id;
        }
    std::vector<DeadLetterGroup> sorted;
    for (auto& [name, group] : groups) sorted.push_back(std::move(group));
    std::stable_sort(
        sorted.begin(),
        sorted.end(),
        [](const DeadLetterGroup& a, const DeadLetterGroup& b) { return a.count > b.count; }
    );
    return sorted;
}

std::optional<DeadLetter> RedisDeadLetters::find(const std::string& id) {
    auto found = look_up(client_, id);
    if (!found) return std::nullopt;
    return std::move(found->letter);
}

PurgeResult RedisDeadLetters::purge(Ids ids, const AuditEntry& act) {
    const auto found = look_up(client_, ids);
    if (found.empty()) return done_of(ids, 0, 0);
    write_audit(store_, act, "purge", found);
    PAWL_FAULT("redis.purge.before");
    int done = run_in_batches(client_, scripts::purge, {"dead"}, found, [](const Found& one) {
        return Command{one.member};
    });
    done += take_large(client_, found, "");
    PAWL_FAULT("redis.purge.after");
    return done_of(ids, done, 0);
}

PurgeResult RedisDeadLetters::merge(
    Ids ids, const AuditEntry& act, std::optional<TimePoint> remembered_since
) {
    auto found = look_up(client_, ids);
    const auto forgotten = std::erase_if(found, [&](const Found& one) {
        const auto& called_at = one.letter.called_at;
        return remembered_since && called_at && *called_at < *remembered_since;
    });
    const auto left = static_cast<int>(forgotten);
    if (found.empty()) return done_of(ids, 0, left);
    write_audit(store_, act, "merge", found);
    const sidekiq::Merge as{act.by, client_.now(), !remembered_since.has_value()};
    const auto times = client_.options().times;
    PAWL_FAULT("redis.merge.before");
    int done =
        run_in_batches(client_, scripts::merge, {"dead", "queues"}, found, [&](const Found& one) {
            return Command{
                one.member, one.letter.queue, sidekiq::with_merge(one.member, as, times)};
        });
    done += take_large(client_, found, sidekiq::default_queue);
    PAWL_FAULT("redis.merge.after");
    return done_of(ids, done, left);
}

}  // namespace pawl::queue
