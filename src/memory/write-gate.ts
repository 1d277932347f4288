import { toStems } from './words.ts'

/** Why a document is held back until a person decides. */
export type QuarantineReason =
  | 'copied-from-tool'
  | 'instructs-the-agent'
  | 'runs-a-command'
  | 'hides-from-the-person'
  | 'address-with-secret'
  | 'encoded-text'

/** What the write gate decided. */
export type GateVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'quarantine'; readonly reason: QuarantineReason; readonly detail: string }

/** What somebody else's words are looked for in. */
export interface ForeignTexts {
  /** What tools answered in this turn and the one before. */
  readonly toolTexts: readonly string[]
  /** The beginning of a text of no person and no agent in which the words stood first, however far back. */
  readonly origin?: string | undefined
}

/** From this share of its stems on, a text counts as copied. */
const COPIED = 0.6
/** How far apart in a tool's answer the copied words may stand. A long answer has almost every word somewhere. */
const STRETCH = 400
const PIECE = 4_000
const OVERLAP = 400
const BETWEEN = String.raw`[\s\S]{0,60}?`

const PATTERNS: readonly (readonly [QuarantineReason, RegExp])[] = [
  [
    'instructs-the-agent',
    /\b(?:ignore|disregard|forget|override|bypass)\b[\s\S]{0,30}?\b(?:instructions?|prompts?|rules?|previous|prior|above|earlier|everything|polic(?:y|ies)|safety|guidelines?)\b/iu,
  ],
  ['instructs-the-agent', /\b(?:system|developer)\s+(?:prompt|message|override|instructions?)\b/iu],
  ['instructs-the-agent', /\byou\s+are\s+now\b|\bnew\s+instructions?\s*:|\bact\s+as\s+(?:an?|the)\b/iu],
  [
    'instructs-the-agent',
    /<\/?\s*(?:system|instructions?|context|previous-session|assistant|human|user)\b/iu,
  ],
  ['instructs-the-agent', /^\s*(?:system|human|user|assistant)\s*:/imu],
  [
    'runs-a-command',
    new RegExp(
      String.raw`\b(?:always|must|first|now|immediately|before|whenever|every\s+time|please|should)\b${BETWEEN}\b(?:run|execute|exec|call|invoke|use|fetch|download|pipe|eval)\b${BETWEEN}(?:(?<![\w./-])(?:curl|wget|nc|ncat|bash|sh|zsh|powershell|iex|eval|sudo|chmod|rm|scp|ssh|base64)\b|https?:)`,
      'iu',
    ),
  ],
  ['runs-a-command', /\b(?:curl|wget)\b[^\n|]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/iu],
  ['runs-a-command', /\brm\s+-[a-z]*[rf][a-z]*\s+[~/]/iu],
  [
    'hides-from-the-person',
    /\b(?:do\s+not|don['’]?t|never|without)\b[\s\S]{0,20}?\b(?:tell|telling|mention|mentioning|show|showing|inform|informing|notify|notifying|ask|asking|reveal|revealing|alert)\b[\s\S]{0,20}?\b(?:user|human|person|anyone|anybody|owner|them|permission|confirmation|approval)\b/iu,
  ],
  [
    'hides-from-the-person',
    /\b(?:skip|disable|turn\s+off|auto-?(?:approve|accept))\b[\s\S]{0,30}?\b(?:permissions?|approvals?|confirmations?|sandbox|safety)\b/iu,
  ],
  ['address-with-secret', /\bhttps?:\/\/[^\s/@]+:[^\s/@]+@/iu],
  [
    'address-with-secret',
    /\bhttps?:\/\/\S*[?&#](?:[\w-]*(?:token|secret|key|password|passwd|auth|sig|signature|session))=[^\s&]+/iu,
  ],
]

/**
 * Whether a promoted text may count at once. It may not when most of it stands in what a tool or a page answered in
 * this turn or the one before, or when it reads like an instruction to the agent: somebody else's words must not
 * become what later sessions know, before a person has seen them.
 */
export function toGateVerdict(content: string, { toolTexts, origin }: ForeignTexts): GateVerdict {
  const plain = toVisible(content)
  for (const piece of toPieces(plain)) {
    for (const [reason, pattern] of PATTERNS) {
      const found = pattern.exec(piece)
      if (found) return { kind: 'quarantine', reason, detail: found[0].trim() }
    }
  }
  const encoded = findEncoded(plain)
  if (encoded !== undefined) return { kind: 'quarantine', reason: 'encoded-text', detail: encoded }
  const share = Math.max(0, ...toolTexts.map((text) => copiedShare(plain, toVisible(text))))
  if (share >= COPIED) {
    const detail = `${Math.floor(share * 100)} % of it stands in what a tool answered`
    return { kind: 'quarantine', reason: 'copied-from-tool', detail }
  }
  if (origin === undefined) return { kind: 'pass' }
  const detail = `its words were first in what a tool, a file or a program gave: "${origin}"`
  return { kind: 'quarantine', reason: 'copied-from-tool', detail }
}

/** What a text shows, without characters that are not seen. */
function toVisible(text: string): string {
  return text.normalize('NFKC').replaceAll(/\p{Cf}|\u034F/gu, '')
}

/** The greatest share of the stems of a text that stand close together in another. */
export function copiedShare(content: string, source: string): number {
  const own = new Set(toStems(content))
  if (own.size === 0) return 0
  const stems = toStems(source)
  const stretch = Math.max(STRETCH, own.size * 3)
  const counts = new Map<string, number>()
  let most = 0
  for (const [at, stem] of stems.entries()) {
    if (own.has(stem)) counts.set(stem, (counts.get(stem) ?? 0) + 1)
    const left = stems[at - stretch]
    const count = left === undefined ? undefined : counts.get(left)
    if (left !== undefined && count === 1) counts.delete(left)
    else if (left !== undefined && count !== undefined) counts.set(left, count - 1)
    most = Math.max(most, counts.size)
  }
  return most / own.size
}

/** How many stems in a row make a run, and from which share of its runs on a text counts as said before. */
const RUN = 3
export const SAID_BEFORE = 0.5

/**
 * Looks for one text in many others: the share of its runs of three stems that stand in another. Unlike words that
 * are near each other, runs in the same order are no coincidence, however much there is to look through.
 */
export interface RunMatcher {
  /** Whether bytes may hold enough of the words to be worth taking apart. */
  mayHold(line: Buffer): boolean
  shareIn(source: string): number
}

export function createRunMatcher(content: string): RunMatcher {
  const own = toStems(toVisible(content))
  const size = Math.min(RUN, own.length)
  const runs = new Set(toRuns(own, size))
  // A stem may end in other letters than its word.
  const roots = [...new Set(own)].map((stem) => stem.slice(0, Math.max(3, stem.length - 2)))
  const plain = roots.filter((root) => /^[a-z0-9]+$/.test(root))
  const least = Math.ceil(plain.length * SAID_BEFORE)
  return {
    mayHold(line) {
      if (runs.size === 0) return false
      const text = line.toString('latin1').toLowerCase()
      // Between the letters may be characters that are not seen, and any character may be escaped.
      if (UNSEEN.test(text)) return true
      return plain.filter((root) => text.includes(root)).length >= least
    },
    shareIn(source) {
      if (runs.size === 0) return 0
      const found = new Set(toRuns(toStems(toVisible(source)), size).filter((run) => runs.has(run)))
      return found.size / runs.size
    },
  }
}

/** The first bytes of characters that are not seen, as they are or as JSON escapes them. */
const UNSEEN =
  /\\u(?:200|20[26]|feff|00ad|034f|180)|\u00e2\u0080[\u008b-\u008f\u00aa-\u00ae]|\u00e2\u0081|\u00ef\u00bb\u00bf|\u00c2\u00ad|\u00cd\u008f|\u00e1\u00a0\u008e|\u00f3\u00a0/

function toRuns(stems: readonly string[], size: number): readonly string[] {
  if (size === 0) return []
  return Array.from({ length: Math.max(0, stems.length - size + 1) }, (_, at) =>
    stems.slice(at, at + size).join(' '),
  )
}

/** Pieces that overlap, so that no pattern has to look far, and none is cut in two. */
function toPieces(text: string): readonly string[] {
  const count = Math.max(1, Math.ceil((text.length - OVERLAP) / (PIECE - OVERLAP)))
  return Array.from({ length: count }, (_, n) =>
    text.slice(n * (PIECE - OVERLAP), n * (PIECE - OVERLAP) + PIECE),
  )
}

/** A run of more than 40 characters as base64 has them; a path or a hash in hexadecimal is none. */
function findEncoded(text: string): string | undefined {
  const runs = text.match(/[A-Za-z0-9+/_-]{41,}={0,2}/g) ?? []
  return runs.find((run) => {
    const separators = run.match(/[/_-]/g)?.length ?? 0
    return (
      /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run) && separators <= Math.floor(run.length / 16)
    )
  })
}
