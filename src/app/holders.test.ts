import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { findProcess } from '#drivers'
import type { Holder, Registry } from '#sources'
import { eventually, expectError } from '#testing'
import { endHolder, findHolder, toOwner } from './holders.ts'

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A process that takes no notice of being asked to end, or one that does. */
async function start(kind: 'polite' | 'stubborn'): Promise<ChildProcess> {
  const code = `${kind === 'stubborn' ? "process.on('SIGTERM', () => {});" : ''}setInterval(() => {}, 1e6); console.log('up')`
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'ignore'] })
  children.push(child)
  if (child.stdout !== null) await once(child.stdout, 'data')
  return child
}

function registryOf(pid: number, more: Partial<Holder> = {}): Registry {
  const started = findProcess(pid)?.start
  const holder: Holder = {
    file: `${pid}.json`,
    sessionId: 's',
    pid,
    status: 'busy',
    lastSeenMs: 0,
    ...(started === undefined ? {} : { started }),
    ...more,
  }
  return { dir: '/nowhere', read: () => ({ holders: [holder], unreadable: [] }) }
}

test('[RUN39] [A01] a process holds a session as long as it lives, and only that very process', async () => {
  const child = await start('polite')
  const pid = child.pid ?? 0
  const registry = registryOf(pid)
  const holder = findHolder(registry, 's')
  expect(holder?.pid).toBe(pid)
  expect(holder && toOwner(holder)).toMatchObject({ pid, words: expect.stringContaining('busy') })
  expect(findHolder(registry, 'another')).toBeUndefined()
  // The same number, started at another time: the file is stale.
  expect(findHolder(registryOf(pid, { started: '1' }), 's')).toBeUndefined()
  child.kill('SIGKILL')
  await eventually(async () => expect(findHolder(registry, 's')).toBeUndefined())
  await endHolder(registry, 's')
})

test('[RUN39] [A01] taking over ends the process: it is asked first, and waited for', async () => {
  for (const kind of ['polite', 'stubborn'] as const) {
    const child = await start(kind)
    const registry = registryOf(child.pid ?? 0)
    const gone = once(child, 'exit')
    await endHolder(registry, 's')
    await gone
    expect(child.signalCode).toBe(kind === 'polite' ? 'SIGTERM' : 'SIGKILL')
  }
  const elsewhere = registryOf(process.pid, { pidSpace: 'pid:[1]' })
  await expectError(endHolder(elsewhere, 's'), 'session-held')
})
