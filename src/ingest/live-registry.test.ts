import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isLive, isWaitingForYou, type LiveState } from '#model'
import { createClaudeSource, type Registry } from '#sources'
import { openTempDir, type TempDir } from '#testing'
import { openLiveRegistry, type LiveRegistry, type LiveRegistryOptions } from './live-registry.ts'
import { openWatcher, type Watcher } from './watcher.ts'

const A = 'aaaaaaaa-0000-4000-8000-000000000000'
let config: TempDir
const children: ChildProcess[] = []
const opened: (Watcher | LiveRegistry)[] = []

beforeEach(async () => {
  config = await openTempDir()
  mkdirSync(join(config.path, 'sessions'))
})
afterEach(async () => {
  for (const one of opened.splice(0)) one.close()
  await Promise.all(children.splice(0).map(kill))
  await config.remove()
})

/** A process that holds a session, as far as anybody can see. */
async function startHolder(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', 'process.stdout.write("up"); setTimeout(() => {}, 60_000)'])
  children.push(child)
  await once(child.stdout, 'data')
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

function register(child: ChildProcess, fields: object = {}): string {
  const pid = child.pid ?? 0
  const path = join(config.path, 'sessions', `${pid}.json`)
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const procStart = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  const entry = { pid, sessionId: A, procStart, status: 'idle', updatedAt: Date.now(), ...fields }
  writeFileSync(path, JSON.stringify(entry))
  return path
}

function registryOf(configDir: string): Registry {
  const { registry } = createClaudeSource(configDir)
  if (registry === undefined) throw new Error('Claude Code has one')
  return registry
}

function open(options: Partial<LiveRegistryOptions> = {}) {
  const changes: string[][] = []
  const registry = registryOf(config.path)
  const live = openLiveRegistry({
    registry,
    now: Date.now,
    onChange(told) {
      for (const { sessionId, live: state } of told)
        changes.push([sessionId, state?.status ?? 'none', state?.waitingFor ?? ''].filter(Boolean))
    },
    ...options,
  })
  opened.push(live)
  return { live, changes, status: () => live.states.get(A)?.status }
}

async function until(met: () => boolean): Promise<number> {
  const start = performance.now()
  while (!met()) {
    if (performance.now() - start > 20_000) throw new Error('it did not happen')
    await sleep(5)
  }
  return performance.now() - start
}

describe('states', () => {
  test('[WAT7] each state is told at its file event: busy, waiting for a permission, for an answer, idle, ended', async () => {
    const child = await startHolder()
    const { live, changes } = open({ intervalMs: 60_000 })
    opened.push(
      openWatcher({
        dirs: () => [join(config.path, 'sessions')],
        onHint: () => live.refresh(),
        onProblem() {},
        now: Date.now,
      }),
    )
    const steps = [
      { status: 'idle' },
      { status: 'busy' },
      { status: 'waiting', waitingFor: 'permission prompt' },
      { status: 'waiting', waitingFor: 'input needed' },
      { status: 'idle' },
    ]
    let path = ''
    for (const [index, step] of steps.entries()) {
      path = register(child, step)
      await until(() => changes.length > index)
    }
    rmSync(path)
    await until(() => changes.length > steps.length)
    expect(changes).toEqual([
      [A, 'idle'],
      [A, 'busy'],
      [A, 'waiting', 'permission prompt'],
      [A, 'waiting', 'input needed'],
      [A, 'idle'],
      [A, 'none'],
    ])
  })

  test('[WAT7] [WAT8] kill -9 is noticed within a second, without a file event', async () => {
    const child = await startHolder()
    register(child, { status: 'busy' })
    const { live, changes, status } = open()
    expect(status()).toBe('busy')
    await kill(child)
    expect(await until(() => changes.length > 0)).toBeLessThan(1_000)
    expect(live.states.get(A)).toMatchObject({ pid: child.pid, status: 'gone' })
  })

  test('[WAT7] a change whose hint never came is found by the next look', async () => {
    const child = await startHolder()
    register(child)
    const { status } = open({ intervalMs: 20 })
    register(child, { status: 'waiting', waitingFor: 'input needed' })
    await until(() => status() === 'waiting')
  })

  test('[WAT9] waiting for a person is not being done', () => {
    const states: readonly LiveState['status'][] = ['idle', 'busy', 'waiting', 'gone', 'unknown']
    expect(states.filter((status) => isWaitingForYou({ pid: 1, status }))).toEqual(['waiting'])
    expect(states.filter((status) => !isLive({ pid: 1, status }))).toEqual(['gone'])
    expect([isWaitingForYou(undefined), isLive(undefined)]).toEqual([false, false])
  })
})

describe('who counts', () => {
  test('[WAT8] a living process wins over a dead one, whichever file is newer', async () => {
    const [dead, alive] = [await startHolder(), await startHolder()]
    register(dead, { status: 'busy', updatedAt: Date.now() + 5_000 })
    register(alive, { status: 'waiting' })
    const { live, status } = open({ intervalMs: 20 })
    await kill(dead)
    await until(() => status() === 'waiting')
    expect(live.states.get(A)?.pid).toBe(alive.pid)
    await kill(alive)
    await until(() => status() === 'gone')
    expect(live.states.get(A)?.pid).toBe(alive.pid)
  })

  test('[WAT8] of two living processes the latest counts', async () => {
    const [first, second] = [await startHolder(), await startHolder()]
    register(first, { status: 'busy', updatedAt: 2_000 })
    register(second, { status: 'idle', updatedAt: 1_000 })
    expect(open().live.states.get(A)?.pid).toBe(first.pid)
  })

  test('[WAT8] a session that went on later is not gone, one that did not is', async () => {
    const child = await startHolder()
    const left = Date.now() - 3_600_000
    register(child, { updatedAt: left })
    await kill(child)
    expect(open({ lastActivity: () => left + 600_000 }).status()).toBeUndefined()
    expect(open({ lastActivity: () => left + 10_000 }).status()).toBe('gone')
    expect(open().status()).toBe('gone')
  })

  test('[WAT8] a long turn that ends in a kill is gone, though its lines are later than the registry', async () => {
    const child = await startHolder()
    register(child, { status: 'busy', updatedAt: Date.now() - 3_600_000 })
    const { status } = open({ intervalMs: 20, lastActivity: () => Date.now() - 1_000 })
    expect(status()).toBe('busy')
    await kill(child)
    await until(() => status() === 'gone')
  })

  test('[WAT10] a process in another container is neither alive nor gone', async () => {
    const child = await startHolder()
    const own = readlinkSync('/proc/self/ns/pid')
    register(child, { pidDomain: `linux:0:${own}` })
    expect(open().status()).toBe('idle')
    register(child, { pidDomain: 'linux:0:pid:[1]' })
    expect(open().status()).toBeUndefined()
  })

  test('[WAT10] a file that is being written changes nothing until it can be read', async () => {
    const child = await startHolder()
    const path = register(child, { status: 'busy' })
    const { live, changes, status } = open({ intervalMs: 60_000 })
    writeFileSync(path, '{"pid":')
    live.refresh()
    expect(status()).toBe('busy')
    register(child, { status: 'idle' })
    await until(() => status() === 'idle')
    expect(changes).toEqual([[A, 'idle']])
  })
})

test('[WAT11] nothing runs without a living process, and nothing keeps this one alive', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  let reads = 0
  const real = registryOf(config.path)
  const registry: Registry = {
    dir: real.dir,
    read() {
      reads++
      return real.read()
    },
  }
  const child = await startHolder()
  const { live } = open({ registry, intervalMs: 5 })
  await sleep(50)
  expect(reads).toBe(1)
  const path = register(child)
  live.refresh()
  expect(timers()).toBeLessThanOrEqual(before)
  await sleep(50)
  // One more look makes sure that nothing was written while the first one was under way.
  expect(reads).toBeLessThanOrEqual(3)
  rmSync(path)
  await until(() => live.states.size === 0)
  const settled = reads
  await sleep(50)
  expect(reads).toBe(settled)
})
