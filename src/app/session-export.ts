import { setImmediate } from 'node:timers/promises'
import { ThroughlineError } from '#base'
import type { Passage, SessionSummary } from '#model'
import type { redactPassage } from '#redact'
import type { ExportFormat, Throughline } from '#wire'

/** Counts of what was masked, by kind. */
export type MaskedSecrets = ReadonlyMap<string, number>

export interface SessionExportOptions {
  readonly format: ExportFormat
  /** `keep` leaves secrets where they stand, because somebody wants it so. Default: `mask`. */
  readonly secrets?: 'mask' | 'keep' | undefined
  /** Masks a passage; one that throws ends the export. By default, that of the room `redact`. */
  readonly redactor?: typeof redactPassage | undefined
}

/** A session on its way out, in pieces. Whoever stops taking them stops the reading. */
export interface SessionExport extends AsyncIterable<string | Uint8Array> {
  /** What was masked up to now. Of an exact copy, what was found in it and is still there. */
  readonly secrets: MaskedSecrets
  /** Whether all that was passed on was searched. */
  readonly isSearched: boolean
}

/**
 * A session as a file for others. Markdown and HTML are without secrets, also where they could only be looked for in
 * part: then it fails with `redaction-failed`. `jsonl` is the transcript, byte for byte; what is in it is told.
 */
export function exportSession(
  throughline: Throughline,
  session: SessionSummary,
  { format, secrets = 'mask', redactor }: SessionExportOptions,
): SessionExport {
  const counts = new Map<string, number>()
  const count = ({ kind }: { readonly kind: string }): void => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const made = { secrets: counts, isSearched: secrets === 'mask' }
  if (format === 'jsonl') return watchCopy(throughline.bytes(session), { counts, count })

  async function* pieces(): AsyncGenerator<string> {
    // Only exports need them, and a daemon has to be there at once.
    const [{ toHtml, toMarkdown }, redacting] = await Promise.all([import('#render'), import('#redact')])
    const mask = redactor ?? redacting.redactPassage
    async function* masked(batches: AsyncIterable<readonly Passage[]>): AsyncGenerator<readonly Passage[]> {
      for await (const batch of batches) {
        yield batch.map((passage) => orRefuse(() => mask(passage, count)))
        // Others wait for this process, too.
        await setImmediate()
      }
    }
    // The head of an export names the model and the tokens, which only a full read knows.
    const summary = session.state === 'unreadable' ? session : await throughline.survey(session)
    const transcript =
      secrets === 'keep'
        ? {
            session: summary,
            passages: throughline.passages(session),
            subagent: (id: string) => throughline.passages(session, { subagent: id }),
          }
        : {
            session: orRefuse(() => redacting.redactSummary(summary)),
            passages: masked(throughline.passages(session)),
            subagent: (id: string) => masked(throughline.passages(session, { subagent: id })),
          }
    yield* format === 'html' ? toHtml(transcript) : toMarkdown(transcript)
  }

  return { ...made, [Symbol.asyncIterator]: pieces }
}

/** What somebody else's error says may quote the text. */
function orRefuse<T>(work: () => T): T {
  try {
    return work()
  } catch {
    throw new ThroughlineError(
      'redaction-failed',
      'secrets could not be looked for, so nothing was exported',
      {
        hint: 'Export it as jsonl to keep an exact copy, or with --secrets keep if nobody else will read it.',
      },
    )
  }
}

/** So much of a copy is searched for a warning: looking takes longer than copying. */
const SEARCHED_BYTES = 8 * 1024 * 1024

interface Copying {
  readonly counts: Map<string, number>
  readonly count: (secret: { readonly kind: string }) => void
}

/** Passes bytes on as they are, and looks for the first lines that surely hold a secret. */
function watchCopy(bytes: AsyncIterable<Uint8Array>, { counts, count }: Copying): SessionExport {
  let isSearched = true
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const { findSecrets } = await import('#redact')
    let rest = ''
    let size = 0
    const decoder = new TextDecoder()
    const search = (text: string): void => {
      try {
        for (const secret of findSecrets(text, { least: 'certain' })) count(secret)
      } catch {
        // The copy is what it is, whether it can be searched or not.
        isSearched = false
      }
    }
    for await (const piece of bytes) {
      if (counts.size === 0 && isSearched) {
        size += piece.length
        rest += decoder.decode(piece, { stream: true })
        const end = rest.lastIndexOf('\n') + 1
        search(rest.slice(0, end))
        rest = rest.slice(end)
        if (size > SEARCHED_BYTES) isSearched = false
      }
      yield piece
    }
    if (counts.size === 0 && isSearched) search(rest)
  }
  return {
    secrets: counts,
    get isSearched() {
      return isSearched
    },
    [Symbol.asyncIterator]: pieces,
  }
}
