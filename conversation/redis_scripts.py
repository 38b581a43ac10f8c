"""The Lua that Redis runs: each script is one transaction, and each checks the lease itself.

Keys of a conversation: its facts (hash), its turns (list of `number created_at body`), and three shared
ones: alarms (sorted by time), attempts, and the account's list (sorted by last commit). Numbers come back
as text, because Lua would round them.
"""

from __future__ import annotations

BEGIN_TURN = """
-- KEYS facts turns alarms | ARGV token now lease_until history alarm_at member ttl_ms
local held = redis.call('HMGET', KEYS[1], 'token', 'lease_until')
if held[1] and held[1] ~= ARGV[1] and tonumber(held[2]) > tonumber(ARGV[2]) then
  return {'held', held[2]}
end
local fence = redis.call('HINCRBY', KEYS[1], 'fence', 1)
redis.call('HSETNX', KEYS[1], 'created_at', ARGV[2])
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'lease_until', ARGV[3], 'used_at', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[7])
redis.call('ZADD', KEYS[3], 'NX', ARGV[5], ARGV[6])
return {'begun', tostring(fence), redis.call('LRANGE', KEYS[2], -tonumber(ARGV[4]), -1)}
"""

COMMIT_TURN = """
-- KEYS facts turns alarms attempts list | ARGV token now keep alarm_at member id ttl_ms body
local facts = redis.call('HMGET', KEYS[1], 'token', 'committed_token', 'last_number')
if facts[2] == ARGV[1] then
  return tonumber(facts[3])
end
if facts[1] ~= ARGV[1] then
  return 0
end
local number = redis.call('HINCRBY', KEYS[1], 'last_number', 1)
redis.call('RPUSH', KEYS[2], number .. ' ' .. ARGV[2] .. ' ' .. ARGV[8])
redis.call('LTRIM', KEYS[2], -tonumber(ARGV[3]), -1)
redis.call('HDEL', KEYS[1], 'token', 'lease_until')
redis.call('HSET', KEYS[1], 'committed_token', ARGV[1], 'used_at', ARGV[2], 'updated_at', ARGV[2])
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[5])
redis.call('HDEL', KEYS[4], ARGV[5])
redis.call('ZADD', KEYS[5], ARGV[2], ARGV[6])
redis.call('PEXPIRE', KEYS[1], ARGV[7])
redis.call('PEXPIRE', KEYS[2], ARGV[7])
return number
"""

RENEW_TURN = """
-- KEYS facts | ARGV token lease_until
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'lease_until', ARGV[2])
return 1
"""

RELEASE_TURN = """
-- KEYS facts | ARGV token
if redis.call('HGET', KEYS[1], 'token') == ARGV[1] then
  redis.call('HDEL', KEYS[1], 'token', 'lease_until')
end
return 1
"""

CLAIM_ALARMS = """
-- KEYS alarms attempts | ARGV now claim_until limit
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, tonumber(ARGV[3]))
local claimed = {}
for _, member in ipairs(due) do
  redis.call('ZADD', KEYS[1], ARGV[2], member)
  claimed[#claimed + 1] = {member, redis.call('HINCRBY', KEYS[2], member, 1)}
end
return claimed
"""

POSTPONE_ALARM = """
-- KEYS alarms attempts | ARGV member claimed_until due_at attempts
local due = redis.call('ZSCORE', KEYS[1], ARGV[1])
if due and tonumber(due) == tonumber(ARGV[2]) then
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
end
return 1
"""

DELETE = """
-- KEYS facts turns alarms attempts list | ARGV member id idle_since ('' deletes in any case)
local used_at = redis.call('HGET', KEYS[1], 'used_at')
if ARGV[3] ~= '' and used_at and tonumber(used_at) > tonumber(ARGV[3]) then
  return used_at
end
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('HDEL', KEYS[4], ARGV[1])
redis.call('ZREM', KEYS[5], ARGV[2])
redis.call('DEL', KEYS[2])
return redis.call('DEL', KEYS[1])
"""
