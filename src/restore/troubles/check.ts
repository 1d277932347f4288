import { field, object, parseJson, string } from '#base'
import { contextSize, type Block, type Entry, type Provider, type Trouble, type TroubleKind } from '#model'
import { findCalls, findMispaired, type Tell } from './call-pairs.ts'
import { blocksOf, isThought } from './checked-blocks.ts'
import { readExactContent } from '../exact-content.ts'
import { findLonely } from './lonely-reasoning.ts'
import { isLengthRefused, isThinkingRefused } from './refusals.ts'
import { DROP, EMPTY, findWrong, type What, type Wrong } from './wrong-block.ts'

/** What is to be known beside the conversation itself. */
export interface CheckOptions {
  /** How many tokens the model takes. Default: 200,000. */
  readonly window?: number | undefined
  /** The agent whose session it is. Some of them put right what others fail with. */
  readonly agent?: string | undefined
  /** Whether a folder is there. Asked for where the session went on last. */
  readonly hasFolder?: ((path: string) => boolean) | undefined
}

const WINDOW = 200_000
/**
 * What would make the provider refuse the conversation as its lines have it. In the order of the lines; nothing means
 * that it can be gone on with.
 */
export function findTroubles(entries: readonly Entry[], options: CheckOptions = {}): readonly Trouble[] {
  const troubles: Trouble[] = []
  const images = countImages(entries)
  const calls = findCalls(entries)
  const lonely = findLonely(entries)
  const isRefused = isThinkingRefused(entries)
  for (const [at, entry] of entries.entries()) {
    const tell = (kind: TroubleKind, index: number, what: What): void => {
      const isHandled =
        (options.agent === 'claude' && what.isHandled === true) ||
        HANDLED.get(options.agent ?? '')?.has(kind) === true
      const { reason, fix, mend } = what
      troubles.push({
        kind,
        origin: { entryId: entry.id, index },
        place: entry.place,
        reason,
        fix,
        ...(mend === undefined ? {} : { mend }),
        ...(isHandled ? { isHandled } : {}),
      })
    }
    for (const [index, block] of blocksOf(entry).entries()) {
      const provider = providerOf(entry)
      const where = entry.kind === 'reply' ? 'answer' : 'said'
      const what =
        isRefused && provider === 'anthropic' && isThought(block)
          ? REFUSED
          : (findWrong(block, { images, provider, where }) ?? findBlank(entry, block))
      if (what !== undefined && !isSilent(entry, block, index)) tell(what.kind, index, what)
    }
    for (const index of lonely.get(entry.id) ?? []) tell('reasoning-alone', index, ALONE)
    findMispaired(entries, at, { calls, tell })
    findRole(entry, tell)
  }
  findOverall(entries, options, troubles)
  return troubles
}

/** What agents put right in every request that they make: found by resuming sessions with each of them. */
const HANDLED: ReadonlyMap<string, ReadonlySet<TroubleKind>> = new Map([
  [
    'claude',
    new Set<TroubleKind>([
      'call-unanswered',
      'result-orphaned',
      'result-repeated',
      'result-late',
      'call-repeated',
      'role-unknown',
    ]),
  ],
  ['codex', new Set<TroubleKind>(['call-unanswered', 'result-orphaned'])],
])

/** A tool that printed nothing: a result may be an empty string, only no empty text in a list. */
function isSilent(entry: Entry, block: Block, index: number): boolean {
  if (block.kind !== 'tool-result' || block.content.length !== 1) return false
  const [only] = block.content
  if (only?.kind !== 'text' || only.text !== '') return false
  return typeof field(readExactContent(entry, blocksOf(entry))?.[index], 'content') === 'string'
}

/** Whom it goes back to. Lines of Claude Code name no provider. */
function providerOf({ provider = 'anthropic' }: Entry): Provider {
  return provider
}

/** A prompt that is nothing but a blank string: Claude Code sends it so. Blank texts among others it leaves out. */
function findBlank(entry: Entry, block: Block): Wrong | undefined {
  if (entry.kind !== 'prompt' || providerOf(entry) !== 'anthropic') return undefined
  if (block.kind !== 'text' || block.text.trim() !== '' || entry.blocks.length > 1) return undefined
  const line = parseJson(new TextDecoder().decode(entry.raw))
  return typeof field(object(line, 'message'), 'content') === 'string' ? EMPTY : undefined
}

const REFUSED: Wrong = {
  kind: 'thinking-edited',
  reason: 'the provider refused the thinking in this session',
  fix: 'The whole block is left out; it is never edited.',
  mend: DROP,
}

const ALONE: What = {
  reason: 'reasoning without the item that it led to, or without its encrypted form',
  fix: 'The reasoning is left out.',
  mend: DROP,
}

function countImages(entries: readonly Entry[]): number {
  let count = 0
  for (const entry of entries) {
    for (const block of blocksOf(entry)) {
      if (block.kind === 'image') count++
      if (block.kind === 'tool-result') count += block.content.filter(({ kind }) => kind === 'image').length
    }
  }
  return count
}

/** What was left behind by programs that write a system's words among the messages. */
function findRole(entry: Entry, tell: Tell): void {
  if (entry.type !== 'user' && entry.type !== 'assistant') return
  if (entry.raw.length === 0 || !Buffer.from(entry.raw).includes('"system"')) return
  const role = string(object(parseJson(new TextDecoder().decode(entry.raw)), 'message'), 'role')
  if (role === undefined || role === 'user' || role === 'assistant') return
  tell('role-unknown', 0, { reason: `a message of the role ${role}`, fix: 'It is left out.', mend: DROP })
}

function findOverall(entries: readonly Entry[], options: CheckOptions, troubles: Trouble[]): void {
  const last = entries.at(-1)
  if (last === undefined) return
  const here = { origin: { entryId: last.id, index: 0 }, place: last.place }
  const window = options.window ?? WINDOW
  const size = toContextSize(entries)
  const isRefused = isLengthRefused(entries)
  if (size > window || isRefused)
    troubles.push({
      kind: 'context-too-long',
      ...here,
      reason: isRefused
        ? 'the provider refused the last request because the conversation is too long'
        : `${size} tokens are in the conversation, and the model takes ${window}`,
      fix: 'Compact it before it is gone on with.',
    })
  const workdir = entries.findLast(({ cwd }) => cwd !== undefined)?.cwd
  if (workdir === undefined || options.hasFolder === undefined || options.hasFolder(workdir)) return
  const reason = `the folder ${workdir} is not there any more`
  troubles.push({ kind: 'workdir-gone', ...here, reason, fix: 'Go on in another folder.' })
}

/** How many tokens the model was given last, and filled: what is in its window now. */
export function toContextSize(entries: readonly Entry[]): number {
  for (const entry of entries.toReversed()) {
    if (entry.kind === 'reply' && !entry.synthetic && entry.usage !== undefined)
      return contextSize(entry.usage)
    if (entry.kind === 'record' && entry.spent !== undefined) return contextSize(entry.spent.usage)
    if (entry.kind === 'compaction') return entry.compaction.tokensAfter ?? 0
  }
  return 0
}
