import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { list, number, object, parseJson } from '#base'

/** What Entire makes of a transcript, by its own rules. */
export interface EntireReport {
  readonly lines: number
  readonly user: number
  readonly assistant: number
  /** What is wrong, by name, with how often. Empty: nothing. */
  readonly errors: Readonly<Record<string, number>>
  readonly prompts: readonly unknown[]
  readonly modifiedFiles: readonly unknown[]
  readonly tokens: {
    readonly input: number
    readonly output: number
    readonly cacheRead: number
    readonly cacheCreation: number
    readonly calls: number
  }
}

const RULES = join(import.meta.dirname, '..', '..', 'test', 'fixtures', 'entire', 'entire-check.jq')

/** The jq that `JQ_PROGRAM` names, or the first on the path. */
export function findJq(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return [process.env['JQ_PROGRAM'], ...folders.map((folder) => join(folder, 'jq'))].find(
    (path) => path !== undefined && path !== '' && existsSync(path),
  )
}

/** Counts a transcript as Entire does, and looks for what it would stumble over. Rejects on a line that is no JSON. */
export async function checkWithEntire(path: string): Promise<EntireReport> {
  const jq = findJq()
  if (jq === undefined) throw new Error('there is no jq: install it, or set JQ_PROGRAM to its path')
  const { stdout } = await promisify(execFile)(jq, ['-s', '-f', RULES, path], {
    maxBuffer: 256 * 1024 * 1024,
  })
  const report = parseJson(stdout)
  const tokens = object(report, 'tokens')
  const errors = Object.entries(object({ report }, 'report') ?? {}).filter(
    ([name, count]) => (name.startsWith('err_') || name === 'bad_type') && count !== 0,
  )
  return {
    lines: number(report, 'lines') ?? -1,
    user: number(report, 'user') ?? -1,
    assistant: number(report, 'assistant') ?? -1,
    errors: Object.fromEntries(errors.map(([name, count]) => [name, Number(count)])),
    prompts: list(report, 'prompts'),
    modifiedFiles: list(report, 'modified_files'),
    tokens: {
      input: number(tokens, 'input_tokens') ?? -1,
      output: number(tokens, 'output_tokens') ?? -1,
      cacheRead: number(tokens, 'cache_read_tokens') ?? -1,
      cacheCreation: number(tokens, 'cache_creation_tokens') ?? -1,
      calls: number(tokens, 'api_call_count') ?? -1,
    },
  }
}
