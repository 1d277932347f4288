import { list, number, parseJson, string } from '#base'
import { JOBS, isJobName } from './jobs.ts'
import type { JobArguments, SampleSession } from './jobs.ts'
import { Pending } from './pending.ts'

/**
 * `node --expose-gc bench/dist/job.js <name> <json>`: runs one job in a process of its own, so that its CPU time and
 * its peak memory are nobody else's, and prints them as one line of JSON.
 */
const [name = '', input = '{}'] = process.argv.slice(2)
const told = readArguments(parseJson(input))
const repeat = number(parseJson(input), 'repeat') ?? 1

process.stdout.write(`${JSON.stringify(await measure())}\n`)

async function measure(): Promise<object> {
  if (!isJobName(name)) return { failed: `no job called ${name}` }
  const job = JOBS[name]
  try {
    await job.prepare?.()
    globalThis.gc?.()
    const baseRssKb = process.memoryUsage.rss() / 1024
    const cpu: number[] = []
    const wall: number[] = []
    let result: unknown
    for (let round = 0; round < repeat; round++) {
      const before = process.cpuUsage()
      const start = performance.now()
      result = await job.run(told)
      const spent = process.cpuUsage(before)
      wall.push(performance.now() - start)
      cpu.push((spent.user + spent.system) / 1000)
    }
    return { cpu, wall, baseRssKb, peakRssKb: process.resourceUsage().maxRSS, result }
  } catch (error) {
    return error instanceof Pending ? { pending: true } : { failed: String(error) }
  }
}

function readArguments(given: unknown): JobArguments {
  const id = string(given, 'id')
  const path = string(given, 'path')
  const entries = number(given, 'entries')
  const home = string(given, 'home')
  const q = string(given, 'q')
  const to = string(given, 'to')
  return {
    configDir: string(given, 'configDir') ?? '',
    ...(id === undefined ? {} : { id }),
    ...(path === undefined ? {} : { path }),
    ...(entries === undefined ? {} : { entries }),
    ...(home === undefined ? {} : { home }),
    ...(q === undefined ? {} : { q }),
    ...(to === undefined ? {} : { to }),
    sample: list(given, 'sample').flatMap(readSample),
  }
}

function readSample(given: unknown): readonly SampleSession[] {
  const id = string(given, 'id')
  const path = string(given, 'path')
  const visible = number(given, 'visible')
  return id === undefined || path === undefined || visible === undefined ? [] : [{ id, path, visible }]
}
