import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import {
  AGENT_MARK,
  endAgent,
  endProcesses,
  findAgentProcesses,
  findProcess,
  isRunning,
  readPs,
  type ProcessId,
} from './process-tree.ts'

const started: ChildProcess[] = []

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

async function start(
  script: string,
  env: Record<string, string> = {},
): Promise<ProcessId & { says: string }> {
  const child = spawn('/bin/sh', ['-c', script], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  started.push(child)
  const [said]: unknown[] = await once(child.stdout, 'data')
  const one = findProcess(child.pid ?? 0)
  if (!one) throw new Error('it did not start')
  return { ...one, says: String(said).trim() }
}

test('[DRV31] a process is one process: another that has its number is not it, and is not ended', async () => {
  const one = await start('echo up; sleep 60')
  expect(isRunning(one)).toBe(true)
  const earlier = { pid: one.pid, start: '1' }
  expect(isRunning(earlier)).toBe(false)
  await endProcesses([earlier], { graceMs: 100 })
  expect(isRunning(one)).toBe(true)
  await endProcesses([one], { graceMs: 100 })
  expect(isRunning(one)).toBe(false)
})

test('[DRV31] a process that does not listen is ended all the same', async () => {
  const one = await start(`trap '' TERM; echo up; while true; do sleep 0.1; done`)
  await endProcesses([one], { graceMs: 100 })
  expect(isRunning(one)).toBe(false)
})

test('[DRV32] the processes of an agent are found below it, and by their mark when everybody above them is gone', async () => {
  const session = randomUUID()
  const root = await start('sleep 60 & echo $!; wait')
  expect(findAgentProcesses(session, root).map((one) => one.pid)).toEqual(
    expect.arrayContaining([root.pid, Number(root.says)]),
  )
  const left = await start('setsid sleep 60 >/dev/null & echo $!; sleep 0.2', { [AGENT_MARK]: session })
  const orphan = findProcess(Number(left.says))
  await new Promise((resolve) => setTimeout(resolve, 300))
  const found = findAgentProcesses(session)
  expect(found.map((one) => one.pid)).toContain(orphan?.pid)
  expect(findAgentProcesses(session.slice(1))).toEqual([])
  await endAgent(session)
  expect(findAgentProcesses(session)).toEqual([])
  await endProcesses(findAgentProcesses(randomUUID(), root), { graceMs: 100 })
})

test('[DRV32] this process and those above it are never among them', () => {
  const top = findProcess(process.ppid)
  const pids = findAgentProcesses(randomUUID(), top).map((one) => one.pid)
  expect(pids).not.toContain(process.pid)
  expect(pids).not.toContain(process.ppid)
})

test('[DRV32] where there is no /proc, the system is asked', () => {
  const rows = readPs()
  const own = rows.find((row) => row.pid === process.pid)
  expect(own?.parent).toBe(process.ppid)
  expect(own?.start).toMatch(/\d{4}$/u)
})
