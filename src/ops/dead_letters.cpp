#include "src/ops/dead_letters.hpp"

#include "src/core/call_rule.hpp"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

namespace pawl::ops {

namespace {

using Ids = std::vector<std::string>;

// Calls back with the ids of all that the filter selects, page by page.
void each_page(
    queue::DeadLetters& letters,
    const queue::DeadLetterFilter& filter,
    const std::function<bool(std::vector<queue::DeadLetter>&)>& f
) {
    std::string after;
    for (;;) {
        auto page = letters.page(filter, after, dead_letter_batch);
        if (page.empty()) return;
        after = page.back().id;
        if (!f(page)) return;
    }
}

// A uniform random sample in one pass (algorithm R: Vitter, "Random Sampling with a Reservoir",
// 1985).
class Reservoir {
public:
    Reservoir(int most, base::Random& random)
        : most_{static_cast<std::size_t>(std::max(most, 0))}, random_{random} {}
    void add(std::string id) {
        ++seen_;
        if (ids_.size() < most_) return ids_.push_back(std::move(id));
        const auto place = static_cast<std::size_t>(random_.dice() * static_cast<double>(seen_));
        if (place < most_) ids_[place] = std::move(id);
    }
    Ids take() { return std::move(ids_); }

private:
    std::size_t most_;
    base::Random& random_;
    std::size_t seen_{0};
    Ids ids_;
};

Ids sample_of(queue::DeadLetters& letters, const DeadLetterChoice& choice, base::Random& random) {
    Reservoir reservoir{*choice.sample, random};
    for (const auto& id : choice.ids) reservoir.add(id);
    if (choice.ids.empty())
        each_page(letters, choice.filter, [&](std::vector<queue::DeadLetter>& page) {
            for (auto& letter : page) reservoir.add(std::move(letter.id));
            return true;
        });
    return reservoir.take();
}

// The selected ids; nullopt: a filter selects them, so they are not known beforehand.
std::optional<Ids> known_ids(
    queue::DeadLetters& letters, const DeadLetterChoice& choice, base::Random& random
) {
    if (choice.sample) return sample_of(letters, choice, random);
    if (!choice.ids.empty()) return choice.ids;
    return std::nullopt;
}

using Step = std::function<queue::PurgeResult(std::span<const std::string>)>;

// Whether a job whose dead letter was chosen may be chosen again under another dead letter.
enum class Again { yes, no };

DeadLetterReport in_batches(
    queue::DeadLetters& letters,
    const DeadLetterChoice& choice,
    Again again,
    base::Random& random,
    const Step& step,
    const OnDeadLetterBatch& on_batch
) {
    DeadLetterReport report;
    std::unordered_set<std::string> met;
    const auto carry_out = [&](std::span<const std::string> ids) {
        const auto done = step(ids);
        report.chosen += static_cast<std::int64_t>(ids.size());
        report.done += done.done;
        report.gone += done.gone;
        report.forgotten += done.forgotten;
        report.held += done.held;
        report.at_work += done.at_work;
        return !on_batch || on_batch(report);
    };
    if (const auto ids = known_ids(letters, choice, random)) {
        for (std::size_t at = 0; at < ids->size(); at += dead_letter_batch) {
            const auto count = std::min<std::size_t>(dead_letter_batch, ids->size() - at);
            if (!carry_out(std::span{*ids}.subspan(at, count))) break;
        }
        return report;
    }
    each_page(letters, choice.filter, [&](std::vector<queue::DeadLetter>& page) {
        Ids ids;
        for (auto& letter : page)
            if (again == Again::yes || met.insert(letter.queue + " " + letter.jid).second)
                ids.push_back(std::move(letter.id));
        return ids.empty() || carry_out(ids);
    });
    return report;
}

}  // namespace

DeadLetterChoice died_by(TimePoint now, DeadLetterChoice choice) {
    auto& before = choice.filter.died_before;
    const auto behind = now + core::clocks_differ_by;
    before = before ? std::min(*before, behind) : behind;
    return choice;
}

void each_dead_letter(
    queue::DeadLetters& letters,
    const DeadLetterChoice& choice,
    base::Random& random,
    const std::function<void(const queue::DeadLetter&)>& f
) {
    if (auto ids = known_ids(letters, choice, random)) {
        for (const auto& id : *ids)
            if (const auto letter = letters.find(id)) f(*letter);
        return;
    }
    each_page(letters, choice.filter, [&](std::vector<queue::DeadLetter>& page) {
        for (const auto& letter : page) f(letter);
        return true;
    });
}

DeadLetterReport purge_dead_letters(
    queue::DeadLetters& letters,
    const DeadLetterChoice& choice,
    const queue::AuditEntry& act,
    base::Random& random,
    const OnDeadLetterBatch& on_batch
) {
    const auto step = [&](std::span<const std::string> ids) { return letters.purge(ids, act); };
    return in_batches(letters, choice, Again::yes, random, step, on_batch);
}

DeadLetterReport merge_dead_letters(
    queue::DeadLetters& letters,
    const DeadLetterChoice& choice,
    const queue::AuditEntry& act,
    std::optional<TimePoint> remembered_since,
    base::Random& random,
    const OnDeadLetterBatch& on_batch
) {
    const auto step = [&](std::span<const std::string> ids) {
        return letters.merge(ids, act, remembered_since);
    };
    return in_batches(letters, choice, Again::no, random, step, on_batch);
}

}  // namespace pawl::ops
