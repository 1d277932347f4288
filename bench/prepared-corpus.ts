import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, number, parseJson } from '#base'
import { CORPUS_VERSION, generateCorpus, writeLongLineSession } from '#testing'
import type { CorpusFacts, CorpusSize, LongLineSession } from '#testing'

interface PreparedCorpus {
  readonly configDir: string
  readonly facts: CorpusFacts
  readonly longLineDir: string
  readonly longLine: LongLineSession
  /** How long it took to make; left out when it was there already. */
  readonly madeInMs?: number
}

const LONG_LINE_BYTES = 50e6

/** The corpus of this seed, made now or kept from an earlier run with the same generator. */
export async function prepareCorpus(root: string, size: CorpusSize, seed: number): Promise<PreparedCorpus> {
  const dir = join(root, `${size}-${seed}`)
  const configDir = join(dir, 'config')
  const longLineDir = join(dir, 'long-line')
  const kept = await readKept(join(dir, 'facts.json'))
  if (kept !== undefined) return { configDir, longLineDir, ...kept }

  await rm(dir, { recursive: true, force: true })
  await mkdir(dir, { recursive: true })
  const start = performance.now()
  const facts = await generateCorpus({ dir: configDir, seed, size })
  const madeInMs = performance.now() - start
  const longLine = writeLongLineSession({ dir: longLineDir, seed, lineBytes: LONG_LINE_BYTES })
  // Written last: a run that was broken off leaves no facts, and the next one starts over.
  await writeFile(join(dir, 'facts.json'), JSON.stringify({ facts, longLine }))
  return { configDir, longLineDir, facts, longLine, madeInMs }
}

interface Kept {
  readonly facts: CorpusFacts
  readonly longLine: LongLineSession
}

async function readKept(path: string): Promise<Kept | undefined> {
  if (!existsSync(path)) return undefined
  const kept = parseJson(await readFile(path, 'utf8'))
  return isKept(kept) ? kept : undefined
}

/** Our own file: the version says whether this very code wrote it. */
function isKept(value: unknown): value is Kept {
  return (
    isObject(value) && number(value['facts'], 'version') === CORPUS_VERSION && isObject(value['longLine'])
  )
}
