import { createTally } from './corpus-facts.ts'
import type { CorpusFacts, DamageKind, NeedlePlace } from './corpus-facts.ts'
import { EPISODES } from './corpus-episodes.ts'
import type { Episode } from './corpus-episodes.ts'
import type { ForkOrigin } from './corpus-forks.ts'
import { createRandom } from './corpus-random.ts'
import type { Random } from './corpus-random.ts'
import { createBallast } from './corpus-requests.ts'
import { writeSession } from './corpus-session.ts'
import type { SessionPlan } from './corpus-session.ts'
import { createTexts } from './corpus-text.ts'
import type { Workplace } from './corpus-transcript.ts'

export type { CorpusFacts, CorpusSession } from './corpus-facts.ts'

/** Goes up whenever the same seed gives other bytes: a corpus kept from an earlier run is then made anew. */
export const CORPUS_VERSION = 2

/** `xs` is for tests (seconds, a few megabytes), `s` for every day, `m` for figures worth publishing. */
export type CorpusSize = 'xs' | 's' | 'm'

export interface CorpusOptions {
  /** The config dir to fill: `projects/` appears inside. */
  readonly dir: string
  readonly seed: number
  readonly size: CorpusSize
}

interface Profile {
  readonly sessions: number
  readonly projects: number
  /** A little below what comes out: a session ends with the turn that reaches its size. */
  readonly medianBytes: number
  readonly sigma: number
  readonly mostBytes: number
  readonly biggestBytes: number
  readonly compactedBytes: number
  readonly compactEvery: number
  readonly imageChars: number
}

const PROFILES: Readonly<Record<CorpusSize, Profile>> = {
  xs: {
    sessions: 60,
    projects: 7,
    medianBytes: 20_000,
    sigma: 0.8,
    mostBytes: 150_000,
    biggestBytes: 2_000_000,
    compactedBytes: 1_500_000,
    compactEvery: 350_000,
    imageChars: 20_000,
  },
  s: {
    sessions: 200,
    projects: 12,
    medianBytes: 105_000,
    sigma: 0.75,
    mostBytes: 320_000,
    biggestBytes: 30_000_000,
    compactedBytes: 20_000_000,
    compactEvery: 2_500_000,
    imageChars: 1_000_000,
  },
  // 1.68: a hundredth of the sessions is fifty times the median.
  m: {
    sessions: 2_000,
    projects: 40,
    medianBytes: 88_000,
    sigma: 1.68,
    mostBytes: 40_000_000,
    biggestBytes: 300_000_000,
    compactedBytes: 20_000_000,
    compactEvery: 2_500_000,
    imageChars: 1_000_000,
  },
}

const NEEDLES: readonly NeedlePlace[] = [
  'prompt',
  'reply',
  'thinking',
  'tool-input',
  'tool-output',
  'subagent',
  'summary',
  'cjk',
]

const DAMAGES: readonly DamageKind[] = ['torn-tail', 'torn-middle', 'zeros', 'glued']

/** Every episode happens once whatever the dice say, so that a corpus of any size has every kind of line. */
const CERTAIN: readonly Episode[] = Object.keys(EPISODES).filter((name): name is Episode =>
  Object.hasOwn(EPISODES, name),
)

/** 2026-09-01, and the eight weeks after it. */
const EPOCH = 1_788_220_800_000
const SPAN = 55 * 24 * 3_600_000

/**
 * Fills a config dir with sessions as Claude Code writes them, and tells what is in it.
 *
 * Same seed and size: the same bytes in the same files, on any machine. Memory stays within a few megabytes
 * however big the corpus is.
 */
export async function generateCorpus({ dir, seed, size }: CorpusOptions): Promise<CorpusFacts> {
  const profile = PROFILES[size]
  const random = createRandom(seed)
  const texts = createTexts(random.child('texts'))
  const ballast = createBallast(random.child('ballast'), texts)
  const tally = createTally()
  const places = projectPlaces(random.child('projects'), profile.projects)
  const special = { biggest: '', compacted: '' }
  let origin: ForkOrigin | undefined

  for (let index = 0; index < profile.sessions; index++) {
    const dice = random.child(`session ${index}`)
    const place = places[index % places.length]
    if (place === undefined) throw new RangeError('no project')
    const plan = sessionPlan(index, profile, dice, place, origin)
    if (index === BIGGEST) special.biggest = plan.id
    if (index === COMPACTED) special.compacted = plan.id
    origin = writeSession(plan, { dir, random: dice, texts, ballast, tally }) ?? origin
    await new Promise((resolve) => setImmediate(resolve))
  }
  return tally.facts({ version: CORPUS_VERSION, seed, size, projects: places.length, ...special })
}

const BIGGEST = 5
const COMPACTED = 9
const STUB = 11
const FIRST_NEEDLE = 12
const FIRST_DAMAGE = FIRST_NEEDLE + NEEDLES.length
const FIRST_CERTAIN = FIRST_DAMAGE + DAMAGES.length
/** Every so many sessions one is kept, and the next two are forks of it. */
const FORK_EVERY = 25
const KEPT = 0

function sessionPlan(
  index: number,
  profile: Profile,
  random: Random,
  place: Workplace,
  origin: ForkOrigin | undefined,
): SessionPlan {
  const slot = index % FORK_EVERY
  const keep = slot === KEPT
  const special = index === BIGGEST || index === COMPACTED
  const drawn = Math.max(5_000, random.logNormal(profile.medianBytes, profile.sigma))
  const bytes =
    index === BIGGEST
      ? profile.biggestBytes
      : index === COMPACTED
        ? profile.compactedBytes
        : Math.min(drawn, keep ? 200_000 : profile.mostBytes)
  const needle = NEEDLES[index - FIRST_NEEDLE]
  const episode = CERTAIN[index - FIRST_CERTAIN]
  const certain = episode !== undefined
  const damage =
    DAMAGES[index - FIRST_DAMAGE] ?? (random.chance(0.008) && !keep ? random.pick(DAMAGES) : undefined)
  const fork = !certain && origin !== undefined && (slot === KEPT + 1 || slot === KEPT + 2)
  return {
    id: random.uuid(),
    slug: slugOf(place.cwd),
    place,
    startedAt: EPOCH + Math.floor(random.next() * SPAN),
    bytes,
    era: certain || special || (bytes > 130_000 && random.chance(0.7)) ? 'full' : 'lean',
    entrypoint: certain && index % 2 === 0 ? 'cli' : random.pick(['cli', 'cli', 'sdk-cli', 'sdk-ts']),
    model: random.pick(['claude-opus-5-5', 'claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5']),
    hooks: certain ? index % 3 === 0 : random.chance(0.08),
    compactEvery: profile.compactEvery,
    ...(index === COMPACTED ? { compactAt: bytes * 0.97 } : {}),
    compactEarly: !keep && random.chance(0.08),
    imageChars: profile.imageChars,
    episodes: [
      ...(certain ? [episode] : []),
      ...(random.chance(0.06) ? (['rename'] as const) : []),
      ...(random.chance(0.05) ? (['move'] as const) : []),
    ],
    keep,
    stub: index === STUB,
    ...(needle === undefined ? {} : { needle }),
    ...(damage === undefined ? {} : { damage }),
    ...(fork ? { fork: { of: origin, style: slot === KEPT + 1 ? 'cli' : 'sdk' } } : {}),
  }
}

function projectPlaces(random: Random, count: number): readonly Workplace[] {
  // Odd ones first: not ASCII, longer than a folder name may be, and two that share a slug.
  const odd = [
    '/home/user/work/ünïcode-日本',
    `/home/user/work/${'very-long-directory-name/'.repeat(12)}end`,
    '/home/user/work/a_b',
    '/home/user/work/a.b',
  ]
  return Array.from({ length: count }, (_, index) => ({
    cwd:
      odd[index] ??
      `/home/user/work/${random.pick(['api', 'web', 'data', 'infra'])}-${random.token(5).toLowerCase()}`,
    branch: random.pick(['main', 'main', 'HEAD', 'feature/search']),
    worktree: false,
  }))
}

/** The folder Claude Code keeps a project's sessions in. */
function slugOf(cwd: string): string {
  const slug = cwd.replaceAll(/[^a-zA-Z0-9]/gu, (character) => '-'.repeat(character.length))
  if (slug.length <= 200) return slug
  let hash = 0
  for (let i = 0; i < cwd.length; i++) hash = (Math.imul(hash, 31) + cwd.charCodeAt(i)) | 0
  return `${slug.slice(0, 200)}-${Math.abs(hash).toString(36)}`
}
