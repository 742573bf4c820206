#include "src/locks/redis_lease_backend.hpp"

#include <utility>

namespace pawl::locks {

namespace {

using redis::Command;
using redis::Script;
using std::chrono::milliseconds;

// The decision of src/core/lease.hpp as one step in Redis. KEYS: the lease. ARGV: now (empty:
// Redis' time), holder, ttl. Returns the epoch and 0; or 0 and how long another holder has it.
constexpr Script acquire_lease{
    "redis acquire_lease",
    R"(
local now = tonumber(ARGV[1])
local micros
if now then
  micros = now * 1000
else
  local time = redis.call('TIME')
  micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
  now = math.floor(micros / 1000)
end
local ttl = tonumber(ARGV[3])
local row = redis.call('HMGET', KEYS[1], 'epoch', 'holder', 'until', 'ttl')
local ends = tonumber(row[3] or 0)
if row[2] and row[2] ~= ARGV[2] and ends > now and ends <= now + 2 * tonumber(row[4]) then
  return {0, ends - now}
end
local epoch = math.max(tonumber(row[1] or 0) + 1, micros)
redis.call('HSET', KEYS[1], 'epoch', string.format('%.0f', epoch), 'holder', ARGV[2],
           'until', string.format('%.0f', now + ttl), 'ttl', ARGV[3])
return {epoch, 0}
)",
    redis::Shape::two_integers};

// KEYS: the lease. ARGV: now (or empty), epoch, holder, ttl. Returns 0 if the lease is lost.
constexpr Script extend_lease{"redis extend_lease", R"(
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local row = redis.call('HMGET', KEYS[1], 'epoch', 'holder', 'until', 'ttl')
if row[1] ~= ARGV[2] or row[2] ~= ARGV[3] then return 0 end
local ends = tonumber(row[3])
if ends <= now or ends > now + 2 * tonumber(row[4]) then return 0 end
redis.call('HSET', KEYS[1], 'until', string.format('%.0f', now + tonumber(ARGV[4])), 'ttl', ARGV[4])
return 1
)"};

// KEYS: the lease. ARGV: holder. Keeps the epoch.
constexpr Script release_lease{"redis release_lease", R"(
if redis.call('HGET', KEYS[1], 'holder') ~= ARGV[1] then return 0 end
return redis.call('HDEL', KEYS[1], 'holder')
)"};

Command key_of(std::string_view name) {
    return {"pawl:lease:" + std::string{name}};
}

class RedisLeaseBackend final : public LeaseBackend {
public:
    explicit RedisLeaseBackend(std::unique_ptr<redis::Client> client)
        : client_{std::move(client)} {}

    core::LeaseChoice acquire(std::string_view name, std::string_view holder, milliseconds ttl)
        override {
        const auto reply = client_->run(
            acquire_lease,
            key_of(name),
            {client_->given_now(), std::string{holder}, std::to_string(ttl.count())}
        );
        if (const auto epoch = reply.items[0].integer; epoch != 0)
            return core::LeaseAcquired{epoch};
        return core::LeaseHeld{milliseconds{reply.items[1].integer}};
    }

    bool extend(
        std::string_view name, std::int64_t epoch, std::string_view holder, milliseconds ttl
    ) override {
        const auto reply = client_->run(
            extend_lease,
            key_of(name),
            {client_->given_now(),
             std::to_string(epoch),
             std::string{holder},
             std::to_string(ttl.count())}
        );
        return reply.integer == 1;
    }

    void release(std::string_view name, std::string_view holder) override {
        client_->run(release_lease, key_of(name), {std::string{holder}});
    }

    // Reads Redis' settings now (PAWL0030).
    std::optional<std::string> fence_problem() override { return client_->fence_problem(); }

private:
    std::unique_ptr<redis::Client> client_;
};

}  // namespace

std::unique_ptr<LeaseBackend> redis_lease_backend(std::unique_ptr<redis::Client> client) {
    return std::make_unique<RedisLeaseBackend>(std::move(client));
}

std::unique_ptr<LeaseBackend> redis_lease_backend(const std::string& url) {
    return redis_lease_backend(std::make_unique<redis::Client>(redis::options_of_url(url)));
}

}  // namespace pawl::locks
