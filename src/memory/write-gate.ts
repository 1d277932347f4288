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
export function toGateVerdict(content: string, toolTexts: readonly string[]): GateVerdict {
  const plain = content.normalize('NFKC').replaceAll(/[\p{Cf}\u00AD]/gu, '')
  for (const piece of toPieces(plain)) {
    for (const [reason, pattern] of PATTERNS) {
      const found = pattern.exec(piece)
      if (found) return { kind: 'quarantine', reason, detail: found[0].trim() }
    }
  }
  const encoded = findEncoded(plain)
  if (encoded !== undefined) return { kind: 'quarantine', reason: 'encoded-text', detail: encoded }
  const share = Math.max(0, ...toolTexts.map((text) => copiedShare(plain, text)))
  if (share < COPIED) return { kind: 'pass' }
  const detail = `${Math.floor(share * 100)} % of it stands in what a tool answered`
  return { kind: 'quarantine', reason: 'copied-from-tool', detail }
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
