#pragma once

#include "src/redis/script.hpp"

#include <array>
#include <string>

// Each script is one step in Redis, which runs one script at a time: no other client sees an
// intermediate state. But a script that fails keeps the writes that it made. So each script adds
// first and deletes last: if memory is full or a key has another type, it fails before anything is
// lost. Times are milliseconds; an empty "now" means Redis' own time. In Sidekiq's sets times are
// seconds.
//
//   queue:NAME         list      due jobs; pushed on the left, claimed from the right
//   pawl:retry:NAME:N  list      due jobs after N failures, for workers of their own
//   queues             set       names of queues
//   schedule, retry    zset      jobs of all queues by due time
//   dead               zset      dead jobs by time of death
//   pawl:work:NAME     hash      token -> claimed job
//   pawl:leases:NAME   zset      token by the end of its lease: the fence of each write; those of
//                                retries end in "r"
//   pawl:rate:NAME     number    when the rate's token bucket is full again, in microseconds
//   pawl:claims        number    the last token
//   pawl:pushed        zset      jid by time of push, until its staged row is deleted
namespace pawl::queue::sidekiq {

// Jobs with more failures are in the last list.
inline constexpr int retry_lists = 20;
inline std::string retry_list(const std::string& queue, int failures) {
    return "pawl:retry:" + queue + ":" + std::to_string(failures);
}

namespace scripts {

using redis::Script;

// KEYS: leases, work, dead. ARGV: now, token, job. Each death gets a microsecond of its own, so
// that dead jobs are in the order of their deaths. Returns 0 if the lease was lost.
inline constexpr Script dead_letter{"redis dead_letter", R"(
if not redis.call('ZSCORE', KEYS[1], ARGV[2]) then return 0 end
local at
if ARGV[1] ~= '' then
  at = tonumber(ARGV[1]) * 1000
else
  local time = redis.call('TIME')
  at = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local function seconds(micros) return string.format('%.6f', micros / 1000000) end
local last = redis.call('ZREVRANGEBYSCORE', KEYS[3], seconds(at + 999), seconds(at), 'WITHSCORES',
                        'LIMIT', 0, 1)
if last[2] then at = math.min(math.floor(tonumber(last[2]) * 1000000 + 0.5) + 1, at + 999) end
redis.call('ZADD', KEYS[3], seconds(at), ARGV[3])
redis.call('HDEL', KEYS[2], ARGV[2])
redis.call('ZREM', KEYS[1], ARGV[2])
return 1
)"};

// KEYS: dead. ARGV: now, and for each job: "work", "set" or "list", the key, its leases and token
// (work only), its bytes there, and its dead form. Returns for each 1 if it was there and is dead
// now, 0 if it was not: it has moved, ended or changed. Each death gets a microsecond of its own.
// All copies with the same bytes leave a list: they are one job.
inline constexpr Script cancel{
    "redis cancel",
    R"(
local at
if ARGV[1] ~= '' then
  at = tonumber(ARGV[1]) * 1000
else
  local time = redis.call('TIME')
  at = tonumber(time[1]) * 1000000 + tonumber(time[2])
end
local function seconds(micros) return string.format('%.6f', micros / 1000000) end
local last_at = at + 999
local last = redis.call('ZREVRANGEBYSCORE', KEYS[1], seconds(last_at), seconds(at), 'WITHSCORES',
                        'LIMIT', 0, 1)
if last[2] then at = math.min(math.floor(tonumber(last[2]) * 1000000 + 0.5) + 1, last_at) end
local done = {}
for i = 2, #ARGV, 6 do
  local place, key, leases, token = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local job, dead = ARGV[i + 4], ARGV[i + 5]
  local there = true
  if place == 'work' then there = redis.call('HGET', key, token) == job end
  if place == 'set' then there = redis.call('ZSCORE', key, job) end
  if there then
    local is_new = redis.call('ZADD', KEYS[1], 'NX', seconds(at), dead) == 1
    if place == 'work' then
      redis.call('HDEL', key, token)
      redis.call('ZREM', leases, token)
    elseif place == 'set' then
      redis.call('ZREM', key, job)
    elseif redis.call('LREM', key, 0, job) == 0 then
      there = false
      if is_new then redis.call('ZREM', KEYS[1], dead) end
    end
  end
  if there then at = math.min(at + 1, last_at) end
  done[#done + 1] = there and 1 or 0
end
return done
)",
    redis::Shape::integers};

// ARGV: now, and for each job: schedule or retry, and its bytes there. Returns for each 1 if it
// waited for a later time, and is due now.
inline constexpr Script due_now{
    "redis due_now",
    R"(
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local done = {}
for i = 2, #ARGV, 2 do
  local score = redis.call('ZSCORE', ARGV[i], ARGV[i + 1])
  local waits = score and tonumber(score) > now / 1000
  if waits then
    redis.call('ZADD', ARGV[i], 'XX', string.format('%.3f', now / 1000), ARGV[i + 1])
  end
  done[#done + 1] = waits and 1 or 0
end
return done
)",
    redis::Shape::integers};

// KEYS: leases, work. ARGV: token, job (empty: unchanged). Returns 0 if the lease was lost.
inline constexpr Script call{"redis call", R"(
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[2], ARGV[1], ARGV[2]) end
return 1
)"};

// KEYS: leases, work. ARGV: token. Returns 0 if the lease was lost.
inline constexpr Script finish{"redis finish", R"(
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HDEL', KEYS[2], ARGV[1])
return 1
)"};

// KEYS: dead, queues. ARGV for each: its bytes in the dead set, queue, new job. Returns how many
// were still in the set: another merge or purge may have removed some.
inline constexpr Script merge{"redis merge", R"(
local merged = 0
for i = 1, #ARGV, 3 do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) then
    redis.call('LPUSH', 'queue:' .. ARGV[i + 1], ARGV[i + 2])
    redis.call('SADD', KEYS[2], ARGV[i + 1])
    redis.call('ZREM', KEYS[1], ARGV[i])
    merged = merged + 1
  end
end
return merged
)"};

// KEYS: dead. ARGV: the bytes of each. Returns how many were still in the set.
inline constexpr Script purge{"redis purge", R"(
local purged = 0
for i = 1, #ARGV do purged = purged + redis.call('ZREM', KEYS[1], ARGV[i]) end
return purged
)"};

// KEYS: a sorted set. ARGV: the least and the most score, how many to skip, how many members to
// return, after how many bytes to stop, and the bytes of the largest member to return whole (empty:
// all). Returns members and scores; of a larger one the beginning, and score, size and SHA-1 with
// spaces between.
inline constexpr Script score_page{
    "redis score_page",
    R"(
local found, bytes = {}, 0
for i = 0, tonumber(ARGV[4]) - 1 do
  local one = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[2], 'WITHSCORES',
                         'LIMIT', tonumber(ARGV[3]) + i, 1)
  if not one[1] then break end
  local member, score = one[1], one[2]
  if ARGV[6] ~= '' and #member > tonumber(ARGV[6]) then
    score = score .. ' ' .. #member .. ' ' .. redis.sha1hex(member)
    member = member:sub(1, 1024)
  end
  found[#found + 1] = member
  found[#found + 1] = score
  bytes = bytes + #member
  if bytes >= tonumber(ARGV[5]) then break end
end
return found
)",
    redis::Shape::pairs};

// KEYS: dead, queues. ARGV: into which queue (empty: none), the bytes that a large member has more
// than, and for each: the least and the most score, and the beginning of its SHA-1. Takes these
// large members out of the set; returns how many were still there.
inline constexpr Script take_large{"redis take_large", R"(
local taken = 0
for i = 3, #ARGV, 3 do
  for at = 0, redis.call('ZCARD', KEYS[1]) do
    local member = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[i], ARGV[i + 1], 'LIMIT', at, 1)[1]
    if not member then break end
    local is_it = #member > tonumber(ARGV[2]) and
                  redis.sha1hex(member):sub(1, #ARGV[i + 2]) == ARGV[i + 2]
    if is_it and ARGV[1] ~= '' then
      redis.call('LPUSH', 'queue:' .. ARGV[1], member)
      redis.call('SADD', KEYS[2], ARGV[1])
    end
    if is_it then
      redis.call('ZREM', KEYS[1], member)
      taken = taken + 1
      break
    end
  end
end
return taken
)"};

// KEYS: pushed, queues. ARGV: now, how long a jid is remembered, the number of jids to forget,
// these jids, and for each job: queue, jid, job. Returns the queues that got none of their jobs, as
// their key is no list. An error in the midst would leave the jobs of other queues in their lists
// without their jids. After a crash or a lost reply the enqueuer sends the same again.
inline constexpr Script push{
    "redis push",
    R"(
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local score = string.format('%.0f', now)
local first = 4 + tonumber(ARGV[3])
local by_queue, queues, jids, is_list, refused = {}, {}, {}, {}, {}
for i = first, #ARGV, 3 do
  local queue = ARGV[i]
  if is_list[queue] == nil then
    local kind = redis.call('TYPE', 'queue:' .. queue).ok
    is_list[queue] = kind == 'list' or kind == 'none'
    if not is_list[queue] then refused[#refused + 1] = queue end
  end
  if is_list[queue] and not redis.call('ZSCORE', KEYS[1], ARGV[i + 1]) then
    local jobs = by_queue[ARGV[i]]
    if not jobs then
      jobs = {}
      by_queue[ARGV[i]] = jobs
      queues[#queues + 1] = ARGV[i]
    end
    jobs[#jobs + 1] = ARGV[i + 2]
    jids[#jids + 1] = score
    jids[#jids + 1] = ARGV[i + 1]
  end
end
for _, queue in ipairs(queues) do
  redis.call('SADD', KEYS[2], queue)
  redis.call('LPUSH', 'queue:' .. queue, unpack(by_queue[queue]))
end
if #jids > 0 then redis.call('ZADD', KEYS[1], unpack(jids)) end
if first > 4 then redis.call('ZREM', KEYS[1], unpack(ARGV, 4, first - 1)) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - tonumber(ARGV[2])))
return refused
)",
    redis::Shape::texts};

// KEYS: leases, work, schedule or retry. ARGV: token, due (seconds), job. Returns 0 if the lease
// was lost.
inline constexpr Script reschedule{"redis reschedule", R"(
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[3])
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[1])
return 1
)"};

// KEYS: leases. ARGV: now, lease, token. Returns 0 if the lease was lost.
inline constexpr Script renew{"redis renew", R"(
if not redis.call('ZSCORE', KEYS[1], ARGV[3]) then return 0 end
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
redis.call('ZADD', KEYS[1], 'XX', string.format('%.0f', now + tonumber(ARGV[2])), ARGV[3])
return 1
)"};

// KEYS: leases, work, queue, retry. ARGV: now, how far from now a lease can end at most, the
// maximum number. Freed jobs go to the front of the queue, in their old order; those that have
// failed before wait for workers of their own again. A lease that ended is a death of the job's
// server, which is counted at the end of its record; one that ends too late has a wrong clock.
// Returns how many leases it ended, and how many jobs that freed.
inline constexpr Script rescue{
    "redis rescue",
    R"(
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local ended, freed = 0, 0
local function with_death(job, as)
  local before = as.pawl_deaths
  if type(as.class) ~= 'string' then return job end
  if type(before) ~= 'number' or not (before >= 0 and before < 1000000) then before = 0 end
  local head = job:match('^(.*),"pawl_deaths":%d+}%s*$') or job:match('^(.*)}%s*$')
  return head .. ',"pawl_deaths":' .. string.format('%d', before + 1) .. '}'
end
local function free(from, to, died)
  local tokens = redis.call('ZRANGEBYSCORE', KEYS[1], from, to, 'LIMIT', 0, tonumber(ARGV[3]))
  for i = #tokens, 1, -1 do
    local job = redis.call('HGET', KEYS[2], tokens[i])
    if job then
      local read, as = pcall(cjson.decode, job)
      local is_table = read and type(as) == 'table'
      if is_table and died then job = with_death(job, as) end
      if is_table and type(as.retry_count) == 'number' then
        redis.call('ZADD', KEYS[4], string.format('%.3f', now / 1000), job)
      else
        redis.call('RPUSH', KEYS[3], job)
      end
      redis.call('HDEL', KEYS[2], tokens[i])
      freed = freed + 1
    end
    redis.call('ZREM', KEYS[1], tokens[i])
    ended = ended + 1
  end
end
free('-inf', string.format('%.0f', now), true)
free('(' .. string.format('%.0f', now + tonumber(ARGV[2])), '+inf', false)
return {ended, freed}
)",
    redis::Shape::two_integers};

// KEYS: queue, schedule, retry, claims, work, leases, queues, rate, and the lists to claim from.
// ARGV: now, lease, maximum to claim, maximum of due jobs to move, maximum bytes of either, maximum
// of jobs to pass over, the queue's name, the last list of retries, the queue's limits (running
// max, microseconds for a token, burst: as core::decide_claim_room), "retries" or "all", and kinds
// not to claim. First
// moves due jobs to their queues, whichever they are: a Redis without Ruby has no other poller. A
// job whose queue's key is no list is dead, so that it does not hold up those of other queues.
// Retries of this queue go to lists by their failures. A token contains the time, so that it is
// never reused, even if Redis has lost its last writes. Returns now, token and job of each,
// and the milliseconds until the rate admits a job.
inline constexpr Script take{
    "redis claim",
    R"(
local time = redis.call('TIME')
local now = tonumber(ARGV[1])
if not now then now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) end
local bytes_most = tonumber(ARGV[5])
local moved_most = tonumber(ARGV[4])
local due = string.format('%.3f', now / 1000)
for _, from in ipairs({KEYS[2], KEYS[3]}) do
  local moved, bytes = 0, 0
  while moved < moved_most and bytes < bytes_most do
    local jobs = redis.call('ZRANGEBYSCORE', from, '-inf', due, 'LIMIT', 0, 10)
    for _, job in ipairs(jobs) do
      local to = KEYS[1]
      local read, as = pcall(cjson.decode, job)
      if read and type(as) == 'table' and type(as.queue) == 'string' and as.queue ~= '' then
        to = 'queue:' .. as.queue
        redis.call('SADD', KEYS[7], as.queue)
        if as.queue == ARGV[7] and type(as.retry_count) == 'number' and as.retry_count >= 0 then
          to = 'pawl:retry:' .. as.queue .. ':' ..
               string.format('%d', math.min(as.retry_count + 1, tonumber(ARGV[8])))
        end
      end
      local pushed = redis.pcall('LPUSH', to, job)
      if type(pushed) == 'table' and pushed.err then
        if not string.find(pushed.err, 'WRONGTYPE', 1, true) then return pushed end
        redis.call('ZADD', 'dead', due, job)
      end
      redis.call('ZREM', from, job)
      moved = moved + 1
      bytes = bytes + #job
    end
    if #jobs < 10 then break end
  end
end
local most, wait, stored, full_at = tonumber(ARGV[3]), 0, nil, nil
local running_max, each, burst = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
if running_max > 0 then
  local free = running_max - redis.call('ZCARD', KEYS[6])
  if ARGV[12] == 'retries' then
    local retries = 0
    for _, token in ipairs(redis.call('ZRANGE', KEYS[6], 0, -1)) do
      if token:sub(-1) == 'r' then retries = retries + 1 end
    end
    free = math.min(free, math.max(math.floor(running_max / 2), 1) - retries)
  end
  most = math.min(most, free)
end
if each > 0 then
  local now_us = now * 1000
  stored = tonumber(redis.call('GET', KEYS[8]) or '0')
  full_at = math.max(now_us, math.min(stored, now_us + burst * each))
  local tokens = math.floor((burst * each - (full_at - now_us)) / each)
  if tokens < 1 then wait = math.ceil((full_at - now_us - (burst - 1) * each) / 1000) end
  most = math.min(most, tokens)
end
local without = {}
for i = 13, #ARGV do without[ARGV[i]] = true end
local function is_left_out(job)
  if #ARGV < 13 then return false end
  local read, as = pcall(cjson.decode, job)
  return read and type(as) == 'table' and without[as.class] == true
end
local taken, bytes, passed = {}, 0, 0
local lease_until = string.format('%.0f', now + tonumber(ARGV[2]))
for i = 9, #KEYS do
  local at = -1
  local of_list = KEYS[i] == KEYS[1] and '' or 'r'
  while #taken < 2 * most and bytes < bytes_most and passed < tonumber(ARGV[6]) do
    local job = redis.call('LINDEX', KEYS[i], at)
    if not job then break end
    if is_left_out(job) then
      at = at - 1
      passed = passed + 1
    else
      local number = string.format('%.0f', redis.call('INCR', KEYS[4]))
      local token = number .. '-' .. time[1] .. string.format('%06d', tonumber(time[2])) .. of_list
      redis.call('HSET', KEYS[5], token, job)
      redis.call('ZADD', KEYS[6], lease_until, token)
      redis.call('LREM', KEYS[i], -1, job)
      taken[#taken + 1] = token
      taken[#taken + 1] = job
      bytes = bytes + #job
    end
  end
end
if full_at and (#taken > 0 or full_at < stored) then
  full_at = full_at + #taken / 2 * each
  redis.call('SET', KEYS[8], string.format('%.0f', full_at), 'PX',
             string.format('%.0f', math.ceil(full_at / 1000 - now) + 1))
end
return {string.format('%.0f', now), taken, string.format('%.0f', wait)}
)",
    redis::Shape::time_pairs_time};

inline constexpr std::array all{
    dead_letter,
    call,
    cancel,
    due_now,
    finish,
    merge,
    purge,
    push,
    reschedule,
    renew,
    rescue,
    take};

}  // namespace scripts

}  // namespace pawl::queue::sidekiq
