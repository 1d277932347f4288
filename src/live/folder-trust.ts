import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { boolean, string, ThroughlineError } from '#base'
import { openSharedJournal, readJournal } from '#journal'
import type { TrustState } from '#model'

/** What a person decided about a folder. */
export interface TrustDecision {
  /** With all links resolved. */
  readonly workdir: string
  /** Of what the folder would load, as it was shown. */
  readonly hash: string
  readonly by: string
  readonly at: string
  readonly trusted: boolean
}

/** The folders that a person trusted, each as it was then. The last decision about a folder counts. */
export interface Trust {
  /**
   * Whether a folder is trusted as it is now. `changed`: it was, with another hash. A folder that is not there is
   * `unknown`.
   */
  find(workdir: string, hash: string): Promise<Exclude<TrustState, 'nothing-to-load'>>
  /** On disk when it resolves. Rejects with `folder-not-found` when there is none. */
  trust(workdir: string, hash: string, by: string): Promise<TrustDecision>
  /** The same, the other way round. Of a folder that is gone too. */
  revoke(workdir: string, by: string): Promise<TrustDecision>
  /** The last decision about each folder. */
  list(): Promise<readonly TrustDecision[]>
}

/**
 * The decisions in `<home>/trust.jsonl`. Nothing is held between two calls, so that the command line and a daemon can
 * both decide, and what one of them decides holds for the other at once.
 */
export function createTrust({ home, now }: { readonly home: string; readonly now: () => number }): Trust {
  const path = join(home, 'trust.jsonl')

  async function append(decision: Omit<TrustDecision, 'at'>): Promise<TrustDecision> {
    const line: TrustDecision = { ...decision, at: new Date(now()).toISOString() }
    const journal = await openSharedJournal(path)
    try {
      await journal.append(line)
      return line
    } finally {
      await journal.close()
    }
  }

  return {
    async find(workdir, hash) {
      const real = await realpath(workdir).catch(() => undefined)
      const last = real === undefined ? undefined : (await readDecisions(path)).get(real)
      if (!last?.trusted) return 'unknown'
      return last.hash === hash ? 'trusted' : 'changed'
    },
    async trust(workdir, hash, by) {
      const real = await realpath(workdir).catch((cause: unknown) => {
        throw new ThroughlineError('folder-not-found', `there is no folder ${workdir}`, {
          hint: 'Give the path of a folder that is there.',
          cause,
        })
      })
      return await append({ workdir: real, hash, by, trusted: true })
    },
    async revoke(workdir, by) {
      const real = await realpath(workdir).catch(() => workdir)
      const hash = (await readDecisions(path)).get(real)?.hash ?? ''
      return await append({ workdir: real, hash, by, trusted: false })
    },
    list: async () => [...(await readDecisions(path)).values()],
  }
}

async function readDecisions(path: string): Promise<ReadonlyMap<string, TrustDecision>> {
  const decisions = new Map<string, TrustDecision>()
  for await (const item of readJournal(path)) {
    const decision = item.kind === 'line' ? readDecision(item.value) : undefined
    if (decision) decisions.set(decision.workdir, decision)
  }
  return decisions
}

/** A line that says not clearly that something is trusted says nothing. */
function readDecision(value: unknown): TrustDecision | undefined {
  const workdir = string(value, 'workdir')
  const hash = string(value, 'hash')
  const trusted = boolean(value, 'trusted')
  if (workdir === undefined || hash === undefined || trusted === undefined) return undefined
  return { workdir, hash, trusted, by: string(value, 'by') ?? '', at: string(value, 'at') ?? '' }
}
