// The measurements of benchmarks/jobs.cpp on pg-boss and graphile-worker, each by its own interface
// and with its recommended settings for speed. Prints a line of JSON. Done jobs are counted in
// their tables, not in this program.
//
// node peers.mjs PEER DATABASE_URL PART WORKERS BATCH SECONDS WARM_UP RATE
import { createRequire } from 'node:module'
import process from 'node:process'

const require = createRequire(import.meta.url)
const { Pool } = require('pg')

const [peerName, url, part, ...numbers] = process.argv.slice(2)
const [workers, batch, seconds, warmUp, rate] = numbers.map(Number)
const waitingMax = 1000
const patience = 60_000
const now = () => Number(process.hrtime.bigint()) / 1e6
const sleep = ms => new Promise(resolve => setTimeout(resolve, Math.max(ms, 0)))

// When each job was committed and when its handler ended, in milliseconds.
const ledger = { next: 0, committed: 0, ended: 0, committedAt: [], endedAt: [] }
const wakeups = new Set()
function ended (number) {
  if (ledger.endedAt[number] !== undefined) return
  ledger.endedAt[number] = now()
  ledger.ended += 1
  for (const wake of wakeups) wake()
}
async function waitEnded (count) {
  let seen = -1
  while (ledger.ended < count) {
    if (seen === ledger.ended) throw new Error('the workers make no progress')
    seen = ledger.ended
    await new Promise(resolve => {
      const timer = setTimeout(done, patience)
      function done () {
        clearTimeout(timer)
        wakeups.delete(check)
        resolve()
      }
      function check () {
        if (ledger.ended >= count) done()
      }
      wakeups.add(check)
      check()
    })
  }
}

const pool = new Pool({ connectionString: url, max: workers + 4 })
for (const event of ['error', 'connect']) pool.on(event, () => {})
async function number (sql) {
  return Number((await pool.query(sql)).rows[0].n)
}

class PgBoss {
  constructor () {
    const Boss = require('pg-boss')
    this.boss = new Boss({ connectionString: url, max: workers + 4, supervise: false, schedule: false })
    this.boss.on('error', error => { throw error })
  }

  async open () {
    await this.boss.start()
    await this.boss.createQueue('bench')
  }

  async stage (first) {
    if (batch === 1) return await this.boss.send('bench', { number: first })
    await this.boss.insert(Array.from({ length: batch }, (_, i) => ({ name: 'bench', data: { number: first + i } })))
  }

  // Batches, its shortest poll interval, and no wait while there are jobs.
  async begin () {
    for (let i = 0; i < workers; ++i) {
      const worker = { id: undefined }
      worker.id = await this.boss.work('bench', { batchSize: 500, pollingIntervalSeconds: 0.5 }, async jobs => {
        for (const job of jobs) ended(job.data.number)
        this.boss.notifyWorker(worker.id)
      })
    }
  }

  left () { return number("SELECT count(*) AS n FROM pgboss.job WHERE name = 'bench' AND state < 'completed'") }
  failed () { return number("SELECT count(*) AS n FROM pgboss.job WHERE name = 'bench' AND state > 'completed'") }
  async end () { await this.boss.stop({ graceful: true, wait: true, timeout: 10_000 }) }
}

class GraphileWorker {
  async open () {
    this.graphile = require('graphile-worker')
    const { Logger, makeWorkerUtils } = this.graphile
    this.logger = new Logger(() => (level, message) => { if (level === 'error') console.error(message) })
    this.utils = await makeWorkerUtils({ pgPool: pool, logger: this.logger })
    await this.utils.migrate()
  }

  async stage (first) {
    if (batch === 1) return await this.utils.addJob('bench', { number: first })
    await this.utils.addJobs(Array.from({ length: batch }, (_, i) => ({ identifier: 'bench', payload: { number: first + i } })))
  }

  // As its own page on performance recommends.
  async begin () {
    this.runner = await this.graphile.run({
      logger: this.logger,
      noHandleSignals: true,
      taskList: { bench: async payload => ended(payload.number) },
      preset: {
        worker: {
          connectionString: url, concurrentJobs: workers, maxPoolSize: workers + 1, localQueue: { size: 500 },
          completeJobBatchDelay: 0, failJobBatchDelay: 0
        }
      }
    })
  }

  left () { return number('SELECT count(*) AS n FROM graphile_worker._private_jobs WHERE attempts < max_attempts') }
  failed () { return number('SELECT count(*) AS n FROM graphile_worker._private_jobs WHERE attempts >= max_attempts') }

  async end () {
    if (this.runner) await this.runner.stop()
    await this.utils.release()
  }
}

let peer
async function open () {
  peer = peerName === 'pg-boss' ? new PgBoss() : new GraphileWorker()
  await peer.open()
}

async function stageOne () {
  const first = ledger.next
  ledger.next += batch
  await peer.stage(first)
  const at = now()
  for (let i = first; i < first + batch; ++i) ledger.committedAt[i] = at
  ledger.committed += batch
}

// As many clients as workers.
function crowd (over, max) {
  return Promise.all(Array.from({ length: workers }, async () => {
    while (!over.now) {
      const waiting = ledger.committed - ledger.ended
      if (max > 0 && waiting >= max) await waitEnded(ledger.committed - max + batch)
      await stageOne()
    }
  }))
}

async function fill (count) {
  const wanted = ledger.committed + count
  while (ledger.committed < wanted) await stageOne()
}

async function workOff (began) {
  await waitEnded(ledger.committed)
  const limit = now() + patience
  while (await peer.left() > 0) {
    if (now() > limit) throw new Error('jobs are left that no worker takes')
    await sleep(1)
  }
  const took = (now() - began) / 1e3
  if (await peer.failed() > 0) throw new Error('jobs failed')
  return took
}

async function stage () {
  const over = { now: false }
  const clients = crowd(over, 0)
  await sleep(warmUp * 1e3)
  const before = ledger.committed
  const from = now()
  await sleep(seconds * 1e3)
  const staged = ledger.committed - before
  const took = (now() - from) / 1e3
  over.now = true
  await clients
  if (await peer.left() !== ledger.committed) throw new Error('the database has other jobs than were staged')
  return [staged, took]
}

// An estimate of the jobs that fit into the given time.
async function work () {
  const first = 500 + 100 * workers
  await fill(first)
  let from = now()
  await peer.begin()
  const probed = first / await workOff(from)
  await peer.end()
  await open()
  const jobs = Math.max(Math.ceil(probed * seconds), first)
  await fill(jobs)
  const before = ledger.ended
  from = now()
  await peer.begin()
  const took = await workOff(from)
  return [ledger.ended - before, took]
}

async function both () {
  await peer.begin()
  const max = Math.max(waitingMax, 2 * batch)
  const warm = { now: false }
  const first = crowd(warm, max)
  await sleep(warmUp * 1e3)
  warm.now = true
  await first
  await workOff(now())

  const before = ledger.committed
  const over = { now: false }
  const from = now()
  const clients = crowd(over, max)
  await sleep(seconds * 1e3)
  over.now = true
  await clients
  const took = await workOff(from)
  return [ledger.committed - before, took]
}

async function latency () {
  await peer.begin()
  const turns = Math.floor(rate * seconds / batch)
  const apart = 1e3 * batch / rate
  const from = now()
  let next = 0
  await Promise.all(Array.from({ length: workers }, async () => {
    for (let turn = next++; turn < turns; turn = next++) {
      await sleep(from + turn * apart - now())
      await stageOne()
    }
  }))
  const took = await workOff(from)
  return [ledger.committed, took]
}

function share (sorted, of) {
  return sorted.length === 0 ? 0 : sorted[Math.min(Math.ceil(of * sorted.length), sorted.length) - 1]
}

await open()
const cpuBefore = process.cpuUsage()
const [jobs, took] = await { stage, work, both, latency }[part]()
const cpu = process.cpuUsage(cpuBefore)
const latencies = ledger.endedAt.map((at, i) => Math.max(at - ledger.committedAt[i], 0)).sort((a, b) => a - b)
console.log(JSON.stringify({
  jobs, rate_per_s: jobs / took, p50_ms: share(latencies, 0.5), p99_ms: share(latencies, 0.99),
  cpu_us: (cpu.user + cpu.system) / Math.max(jobs, 1)
}))
await peer.end()
await pool.end()
process.exit(0)
