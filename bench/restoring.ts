import { openThroughline } from '#app'
import { NATIVE_AGENTS, TARGETS } from '#model'
import { toNativeSession, toSaid, toTarget, type Said } from '#restore'
import { formatOf, openTranscript, readConversation } from '#sources'
import { parseFiles } from './limits.ts'

/** Going on with sessions, as the benchmark asks for it: from the file to what a provider or an agent takes. */

interface Made {
  /** Of the transcripts that were read. */
  readonly bytes: number
  /** Messages of requests, or bytes of files. */
  readonly made: number
}

/** Every session read, put in order and written for an interface of a provider. */
export async function restoreAll(paths: readonly string[], given: string | undefined): Promise<Made> {
  const target = TARGETS.find((known) => known === given) ?? 'anthropic'
  return await overAll(paths, (said) => toTarget(said, target).messages.length)
}

/** Every session read, put in order and written as a native one of an agent. Nothing is put on disk. */
export async function convertAll(paths: readonly string[], given: string | undefined): Promise<Made> {
  const agent = NATIVE_AGENTS.find((known) => known === given) ?? 'claude'
  return await overAll(paths, (said, path) => {
    const facts = {
      source: { agent: 'bench', sessionId: path },
      workdir: '/w',
      created: '2026-11-16T12:00:00.000Z',
    }
    const { files } = toNativeSession(agent, said, facts)
    return files.reduce((sum, { text }) => sum + text.length, 0)
  })
}

/** The same bytes, parsed and thrown away. */
export function parseSample(paths: readonly string[]): Made {
  const { bytes, lines } = parseFiles(paths)
  return { bytes, made: lines }
}

async function overAll(paths: readonly string[], make: (said: Said, path: string) => number): Promise<Made> {
  let [bytes, made] = [0, 0]
  for (const path of paths) {
    const file = openTranscript(path)
    try {
      const { entries } = await readConversation(file, formatOf(path))
      made += make(toSaid(entries), path)
      bytes += file.size
    } finally {
      file.close()
    }
  }
  return { bytes, made }
}

interface Compacted {
  readonly summarised: number
  readonly kept: number
  readonly tokens: number
}

/** A session compacted from its file, as `throughline compact` does it, and taken back. */
export async function compactOne(configDir: string, home: string, id: string): Promise<Compacted> {
  const throughline = await openThroughline({ env: { CLAUDE_CONFIG_DIR: configDir, THROUGHLINE_HOME: home } })
  try {
    const { turns, tokens } = await throughline.restoring.compact(id)
    // What a model would be given now; it has to fit as well.
    const { messages } = await throughline.restoring.restore(id, 'anthropic')
    if (messages.length === 0) throw new Error('nothing is left of the session')
    await throughline.restoring.undoCompaction(id)
    return { ...turns, tokens: tokens.after }
  } finally {
    await throughline.close()
  }
}
