import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findSecrets } from '#redact'
import { hold } from './comparison.ts'
import type { Row } from './table.ts'

/** A gigabyte in 22 seconds of one core. */
const BUDGET = 46
const SIZE = 8_000_000

/** How fast texts are searched for secrets on their way out, by both kinds of rules. */
export async function redactionRows(): Promise<readonly Row[]> {
  const prose = Array.from(
    { length: 400 },
    (_, n) => `${n} ${'all work and no play makes a dull page '.repeat(512)}`,
  )
  const source = join(import.meta.dirname, '..', '..', 'src')
  const code = readdirSync(source, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(source, name), 'utf8'))
  return await Promise.resolve([
    hold({ name: 'secrets in prose: per second of one core', value: rateOf(prose), show, least: BUDGET }),
    hold({
      name: 'secrets in source code: per second of one core',
      value: rateOf(code),
      show,
      note: 'read again in each of its forms: escapes and line breaks undone',
    }),
  ])
}

function show(rate: number): string {
  return `${rate.toFixed(1)} MB/s`
}

function rateOf(texts: readonly string[]): number {
  for (const text of texts.slice(0, 50)) findSecrets(text)
  let size = 0
  const before = process.cpuUsage()
  for (let at = 0; size < SIZE; at++) {
    const text = texts[at % texts.length] ?? ''
    findSecrets(text)
    size += text.length
  }
  const { user, system } = process.cpuUsage(before)
  return size / (user + system)
}
