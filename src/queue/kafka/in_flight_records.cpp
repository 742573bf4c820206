#include "src/queue/kafka/in_flight_records.hpp"

#include "src/queue/kafka/job_record.hpp"

#include <algorithm>

namespace pawl::queue::kafka {

void InFlightRecords::assign(
    const Partition& partition, std::optional<std::int64_t> committed, std::string_view gaps
) {
    revoke(partition);
    Part part;
    if (committed) {
        part.next = *committed;
        part.done_before = read_gaps(*committed, gaps);
        part.reported.emplace(*committed, gaps);
    }
    parts_.emplace(partition, std::move(part));
}

void InFlightRecords::revoke(const Partition& partition) {
    const auto at = parts_.find(partition);
    if (at == parts_.end()) return;
    for (const auto& [offset, held] : at->second.held)
        erase_waiting(held.of, {held.due, held.order, partition, offset});
    parts_.erase(at);
}

std::vector<Partition> InFlightRecords::partitions() const {
    std::vector<Partition> found;
    for (const auto& [partition, part] : parts_) found.push_back(partition);
    return found;
}

bool InFlightRecords::add(std::shared_ptr<const Record> record, TimePoint due) {
    const auto at = parts_.find(record->partition);
    if (at == parts_.end()) return false;
    auto& part = at->second;
    const auto offset = record->offset;
    if (part.held.contains(offset)) return false;
    // A topic that was recreated or truncated starts at a lower offset: known offsets are void.
    if (offset < part.next) part.done_before.clear();
    part.next = offset + 1;
    const bool was_done =
        std::any_of(part.done_before.begin(), part.done_before.end(), [offset](const Offsets& run) {
            return run.first <= offset && offset < run.second;
        });
    if (was_done) return false;
    part.bytes += size_of(*record);
    Held held;
    held.of = {failures_of(*record), kind_of(*record)};
    held.due = due;
    held.order = ++orders_;
    held.record = std::move(record);
    wait(at->first, offset, part.held.emplace(offset, std::move(held)).first->second);
    return true;
}

void InFlightRecords::wait(const Partition& partition, std::int64_t offset, Held& held) {
    held.claim = 0;
    waiting_[held.of].emplace(held.due, held.order, partition, offset);
}

void InFlightRecords::erase_waiting(const Class& of, const Waiting& waiting) {
    const auto at = waiting_.find(of);
    if (at == waiting_.end()) return;
    at->second.erase(waiting);
    if (at->second.empty()) waiting_.erase(at);
}

std::vector<InFlightRecords::Claimed> InFlightRecords::claim(
    int limit, TimePoint now, TimePoint lease_until, const ClaimFilter& filter
) {
    std::vector<Claimed> claimed;
    while (static_cast<int>(claimed.size()) < limit) {
        const auto at = first_due(now, filter);
        if (at == waiting_.end()) break;
        const auto first = *at->second.begin();
        erase_waiting(Class{at->first}, first);
        const auto& [due, order, partition, offset] = first;
        auto& held = parts_.at(partition).held.at(offset);
        held.claim = ++claims_;
        held.lease_until = lease_until;
        claimed.push_back({{partition, offset, held.claim}, held.record});
    }
    return claimed;
}

InFlightRecords::Classes::const_iterator InFlightRecords::first_due(
    TimePoint now, const ClaimFilter& filter
) const {
    auto found = waiting_.end();
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
        const auto& [failures, kind] = at->first;
        const auto& first = *at->second.begin();
        if (std::get<TimePoint>(first) > now || !filter.admits(failures, kind)) continue;
        if (found == waiting_.end() || first < *found->second.begin()) found = at;
    }
    return found;
}

bool InFlightRecords::any_due(TimePoint now, const ClaimFilter& filter) const {
    return first_due(now, filter) != waiting_.end();
}

std::optional<TimePoint> InFlightRecords::next_due() const {
    std::optional<TimePoint> next;
    for (const auto& [of, waiting] : waiting_) {
        const auto due = std::get<TimePoint>(*waiting.begin());
        if (!next || due < *next) next = due;
    }
    return next;
}

const InFlightRecords::Held* InFlightRecords::look(const Token& token) const {
    const auto part = parts_.find(token.partition);
    if (part == parts_.end()) return nullptr;
    const auto held = part->second.held.find(token.offset);
    const bool ours =
        held != part->second.held.end() && held->second.claim == token.claim && token.claim != 0;
    return ours ? &held->second : nullptr;
}

InFlightRecords::Held* InFlightRecords::look(const Token& token) {
    return const_cast<Held*>(std::as_const(*this).look(token));
}

std::shared_ptr<const Record> InFlightRecords::find(const Token& token) const {
    const auto* held = look(token);
    return held == nullptr ? nullptr : held->record;
}

bool InFlightRecords::renew(const Token& token, TimePoint lease_until) {
    auto* held = look(token);
    if (held != nullptr) held->lease_until = lease_until;
    return held != nullptr;
}

bool InFlightRecords::done(const Token& token) {
    const auto* held = look(token);
    if (held == nullptr) return false;
    auto& part = parts_.at(token.partition);
    part.bytes -= size_of(*held->record);
    part.held.erase(token.offset);
    return true;
}

bool InFlightRecords::release(const Token& token) {
    auto* held = look(token);
    if (held == nullptr) return false;
    wait(token.partition, token.offset, *held);
    return true;
}

int InFlightRecords::rescue(TimePoint now, TimePoint bound) {
    int rescued = 0;
    for (auto& [partition, part] : parts_)
        for (auto& [offset, held] : part.held) {
            if (held.claim == 0) continue;
            if (held.lease_until > now && held.lease_until <= bound) continue;
            wait(partition, offset, held);
            ++rescued;
        }
    return rescued;
}

Position InFlightRecords::position_of(const Partition& partition, const Part& part) {
    const auto base = part.held.empty() ? part.next : std::min(part.held.begin()->first, part.next);
    std::vector<std::int64_t> open;
    for (const auto& [offset, held] : part.held)
        if (offset < part.next) open.push_back(offset);
    return {partition, base, write_gaps(base, part.next, open)};
}

std::optional<Position> InFlightRecords::position(const Partition& partition) const {
    const auto at = parts_.find(partition);
    if (at == parts_.end() || at->second.next == 0) return std::nullopt;
    // What the previous owner did and is not read again yet would become open for the next one.
    const auto& before = at->second.done_before;
    if (!before.empty() && at->second.next < before.back().second) return std::nullopt;
    auto now = position_of(partition, at->second);
    if (at->second.reported == std::pair{now.offset, now.gaps}) return std::nullopt;
    return now;
}

std::vector<Position> InFlightRecords::positions() const {
    std::vector<Position> moved;
    for (const auto& [partition, part] : parts_)
        if (auto now = position(partition)) moved.push_back(std::move(*now));
    return moved;
}

void InFlightRecords::committed(const Position& position) {
    const auto at = parts_.find(position.partition);
    if (at != parts_.end()) at->second.reported.emplace(position.offset, position.gaps);
}

std::optional<std::int64_t> InFlightRecords::next(const Partition& partition) const {
    const auto at = parts_.find(partition);
    if (at == parts_.end()) return std::nullopt;
    return at->second.next;
}

bool InFlightRecords::is_full(const Part& part) const {
    if (part.held.empty()) return false;
    return part.held.size() >= limits_.records || part.bytes >= limits_.bytes ||
           part.next - part.held.begin()->first >= limits_.ahead;
}

bool InFlightRecords::has_room(const Part& part) const {
    if (part.held.empty()) return true;
    return part.held.size() <= limits_.records / 2 && part.bytes <= limits_.bytes / 2 &&
           part.next - part.held.begin()->first <= limits_.ahead / 2;
}

std::vector<Partition> InFlightRecords::to_pause() {
    std::vector<Partition> found;
    for (auto& [partition, part] : parts_)
        if (!part.paused && is_full(part)) {
            part.paused = true;
            found.push_back(partition);
        }
    return found;
}

std::vector<Partition> InFlightRecords::to_resume() {
    std::vector<Partition> found;
    for (auto& [partition, part] : parts_)
        if (part.paused && has_room(part)) {
            part.paused = false;
            found.push_back(partition);
        }
    return found;
}

}  // namespace pawl::queue::kafka
