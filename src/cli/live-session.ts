import { randomUUID } from 'node:crypto'
import { ThroughlineError } from '#base'
import type { PromptRequest, Throughline } from '#wire'
import type { Console } from './console.ts'
import { isBeginningOf } from './id-beginning.ts'
import { openLiveAnywhere, type Site } from './site.ts'
import { openTerminal, type Terminal } from './terminal.ts'
import type { Values } from './command-line.ts'

/** Does something with live sessions, in the daemon or in this process, and lets go of them. */
export async function withLive(
  site: Site,
  use: (throughline: Throughline) => Promise<number>,
): Promise<number> {
  const throughline = await openLiveAnywhere(site)
  try {
    return await use(throughline)
  } finally {
    await throughline.close()
  }
}

/** The id of a session by its id, the beginning of its id, or its whole name; live ones first. */
export async function findSessionId(throughline: Throughline, query: string): Promise<string> {
  const ids = (await throughline.live.board()).map(({ sessionId }) => sessionId)
  const [only, another] = ids.includes(query) ? [query] : ids.filter((id) => isBeginningOf(query, id))
  if (only !== undefined && another === undefined) return only
  return (await throughline.get(query)).id
}

/** A person at the terminal, where there is one and the output is for people. */
export function findTerminal(console: Console, values: Values): Terminal | undefined {
  const { stdin, stdout } = process
  if (values.flag('json') || !console.isTerminal || !stdin.isTTY) return undefined
  return openTerminal(stdin, stdout)
}

/** The words that were given, or what is piped in: with `-`, or when there is nothing else. */
export async function readPrompt(words: readonly string[]): Promise<string | undefined> {
  const given = words.join(' ')
  if (given !== '' && given !== '-') return given
  if (process.stdin.isTTY) return undefined
  const pieces: Buffer[] = []
  for await (const piece of process.stdin) if (Buffer.isBuffer(piece)) pieces.push(piece)
  const text = Buffer.concat(pieces).toString('utf8').trim()
  return text === '' ? undefined : text
}

/** The same, where there has to be one. */
export async function getPrompt(words: readonly string[], command: string): Promise<string> {
  const text = await readPrompt(words)
  if (text !== undefined) return text
  throw new ThroughlineError('bad-usage', `${command} needs a prompt`, {
    hint: `Give it in words, or pipe it in: \`echo "…" | throughline ${command}\`.`,
  })
}

/** A prompt under an id of its own: sent twice, it counts once. */
export function toPrompt(text: string): PromptRequest {
  return { id: randomUUID(), blocks: [{ kind: 'text', text }] }
}

/** The editor that the person has chosen. */
export function editorOf({ env }: Site): string | undefined {
  return [env['VISUAL'], env['EDITOR']].find((name) => name !== undefined && name !== '')
}
