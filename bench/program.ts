import { once } from 'node:events'
import { startChild } from './children.ts'
import type { Sample } from './measure.ts'

interface Ran {
  readonly stdout: string
  readonly code: number
  readonly cpuMs: number
  readonly wallMs: number
}

/** Runs a program to its end. Its CPU time is what the shell that started it was told by the system. */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: { readonly env: Readonly<Record<string, string | undefined>> },
): Promise<Ran> {
  // The shell takes the time, so that its own start is not in it.
  const script = 'a=$EPOCHREALTIME; "$0" "$@"; code=$?; b=$EPOCHREALTIME; echo; echo $a $b; times; exit $code'
  const child = startChild('/bin/bash', ['-c', script, command, ...args], { ...options, stdio: 'pipe' })
  const pieces: Buffer[] = []
  child.stdout?.on('data', (piece: Buffer) => pieces.push(piece))
  child.stderr?.resume()
  await once(child, 'close')
  const lines = Buffer.concat(pieces).toString('utf8').trimEnd().split('\n')
  const [clock = '', , spent = ''] = lines.splice(-3)
  const [begun = Number.NaN, over = Number.NaN] = clock.split(' ').map(Number)
  const wallMs = (over - begun) * 1000
  return { stdout: lines.join('\n'), code: child.exitCode ?? -1, cpuMs: toMs(spent), wallMs }
}

/** `0m1.234s 0m0.567s`: user and system time. */
function toMs(times: string): number {
  return [...times.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
    0,
  )
}

/** A lap of one call. */
export function toSample(
  took: { readonly cpuMs: number; readonly wallMs: number },
  result?: unknown,
): Sample {
  return { cpu: [took.cpuMs], wall: [took.wallMs], peakRssKb: 0, baseRssKb: 0, result }
}
