import { join } from 'node:path'
import { hookAttachments } from './corpus-attachments.ts'
import { compact } from './corpus-compaction.ts'
import { writeDamage } from './corpus-damage.ts'
import { EPISODES } from './corpus-episodes.ts'
import type { Episode } from './corpus-episodes.ts'
import type { DamageKind, NeedlePlace, Tally } from './corpus-facts.ts'
import { createCorpusFile } from './corpus-file.ts'
import { copyFork, forkOrigin } from './corpus-forks.ts'
import type { ForkOrigin } from './corpus-forks.ts'
import type { Random } from './corpus-random.ts'
import type { Ballast } from './corpus-requests.ts'
import { stateLines } from './corpus-side-lines.ts'
import type { Texts } from './corpus-text.ts'
import { writeTurn } from './corpus-turns.ts'
import type { Scene, TurnPlan } from './corpus-turns.ts'
import { Transcript } from './corpus-transcript.ts'
import type { Era, Workplace } from './corpus-transcript.ts'

export interface SessionPlan {
  readonly id: string
  readonly slug: string
  readonly place: Workplace
  readonly startedAt: number
  readonly bytes: number
  readonly era: Era
  readonly entrypoint: 'cli' | 'sdk-cli' | 'sdk-ts'
  readonly model: string
  readonly hooks: boolean
  /** Bytes between two compactions. */
  readonly compactEvery: number
  /** One more compaction once the file is this long: what follows is the modest tail of a big session. */
  readonly compactAt?: number
  /** A compaction after the first turns, as people do by hand. */
  readonly compactEarly: boolean
  readonly imageChars: number
  readonly episodes: readonly Episode[]
  readonly damage?: DamageKind
  readonly needle?: NeedlePlace
  readonly fork?: { readonly of: ForkOrigin; readonly style: 'cli' | 'sdk' }
  /** A file without a single message, as an aborted start leaves it. */
  readonly stub?: boolean
  readonly keep?: boolean
}

export interface SessionTools {
  readonly dir: string
  readonly random: Random
  readonly texts: Texts
  readonly ballast: Ballast
  readonly tally: Tally
}

/** Episodes that come up by themselves, and how often a turn is one. */
const EPISODE_RATE = 0.09
const SPONTANEOUS: readonly Episode[] = [
  'slash command',
  'tag',
  'interrupt',
  'api error',
  'no response',
  'background agent',
  'rewind',
  'unknown line',
  'queued prompt',
  'denied tool',
  'subagent',
  'subagent',
  'subagent',
  'big output',
]

/** About one line in a thousand carries a picture; a turn is about thirty lines. */
const IMAGE_RATE = 0.033

/** Writes a session and its folder. Returns what a fork needs when the plan asks to keep it. */
export function writeSession(plan: SessionPlan, tools: SessionTools): ForkOrigin | undefined {
  const path = `projects/${plan.slug}/${plan.id}`
  const { random, texts, ballast, tally } = tools
  const file = createCorpusFile(join(tools.dir, `${path}.jsonl`))
  const t = new Transcript({
    file,
    path: `${path}.jsonl`,
    random,
    texts,
    tally,
    sessionId: plan.id,
    era: plan.era,
    entrypoint: plan.entrypoint,
    model: plan.model,
    place: plan.place,
    startedAt: plan.startedAt,
    imageChars: plan.imageChars,
  })
  if (plan.keep === true) t.kept = []
  const scene: Scene = {
    ballast,
    at: { dir: join(tools.dir, path), path },
    limit: plan.bytes + tailOf(plan),
    hooks: plan.hooks,
  }

  if (plan.stub === true) stateLines(t, 'idle')
  else writeConversation(t, scene, plan)
  if (plan.damage === 'torn-tail') writeDamage(t, 'torn-tail')
  file.close(t.now)

  tally.file(file.bytes, file.lines, 'session')
  tally.session({
    id: plan.id,
    path: `${path}.jsonl`,
    bytes: file.bytes,
    lines: file.lines,
    compactions: t.compactions,
    rewinds: t.rewinds,
    ...(plan.fork === undefined ? {} : { forkOf: plan.fork.of.sessionId }),
    visible: t.visible,
  })
  return plan.keep === true ? forkOrigin(t) : undefined
}

function writeConversation(t: Transcript, scene: Scene, plan: SessionPlan): void {
  if (plan.fork !== undefined) copyFork(t, plan.fork.of, plan.fork.style)
  // With a SessionStart hook the chain begins with an attachment, not with a prompt.
  else if (plan.hooks) hookAttachments(t, 'SessionStart:startup')
  writeTurn(t, scene, plan.needle === undefined ? {} : needlePlan(plan.needle))
  if (plan.damage !== undefined && plan.damage !== 'torn-tail') writeDamage(t, plan.damage)
  if (plan.needle === 'summary') compact(t, scene, { trigger: 'manual', needle: true })
  for (const episode of plan.episodes) EPISODES[episode](t, scene)

  if (plan.compactEarly) compact(t, scene, { trigger: 'manual' })
  if (plan.compactEarly) writeTurn(t, scene)

  let next = Math.min(t.bytes + plan.compactEvery, plan.compactAt ?? Infinity)
  let end = plan.bytes
  while (t.bytes < end) {
    const due = t.bytes > next
    if (due) next = nextCompaction(t, plan)
    if (due && t.bytes > (plan.compactAt ?? Infinity)) end = t.bytes + tailOf(plan)
    if (due && t.random.chance(0.3)) {
      compact(t, scene, { trigger: 'manual' })
    } else if (due) {
      writeTurn(t, scene, { afterPrompt: () => compact(t, scene, { trigger: 'auto' }) })
    } else if (t.random.chance(EPISODE_RATE)) {
      EPISODES[t.random.pick(SPONTANEOUS)](t, scene)
    } else {
      writeTurn(t, scene, ordinaryPlan(t, plan))
    }
  }
}

/** What is written after the last compaction that was planned. */
function tailOf({ bytes, compactAt }: SessionPlan): number {
  return compactAt === undefined ? 0 : bytes - compactAt
}

function nextCompaction(t: Transcript, { compactEvery, compactAt }: SessionPlan): number {
  const regular = t.bytes + compactEvery * (0.8 + 0.4 * t.random.next())
  return compactAt === undefined || t.bytes > compactAt ? regular : Math.min(regular, compactAt)
}

function ordinaryPlan(t: Transcript, plan: SessionPlan): TurnPlan {
  // A small session must not become a big one because of one picture, nor a modest tail a long one.
  const small = plan.bytes < plan.imageChars * 0.25 || t.bytes > (plan.compactAt ?? Infinity)
  if (small || !t.random.chance(IMAGE_RATE)) return {}
  return { image: t.random.pick(['prompt', 'tool']) }
}

function needlePlan(where: NeedlePlace): TurnPlan {
  if (where === 'summary') return {}
  return where === 'subagent' ? { needle: where, midTurn: 'subagent' } : { needle: where }
}
