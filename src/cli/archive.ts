import type { LocalThroughline } from '#app'
import { ThroughlineError } from '#base'
import { safeLine, toPlural, toSize } from '#render'
import type { Values } from './command-line.ts'
import { confirm } from './confirm.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { toAge, toShortPath } from './short.ts'
import type { Site } from './site.ts'
import { toSpan } from './span.ts'

/** `throughline archive` */
export async function archive(site: Site, values: Values, console: Console): Promise<number> {
  if (values.arg === 'prune') return await prune(site, values, console)
  const throughline = await site.openLocal()
  try {
    const state = await throughline.archiveState()
    if (values.flag('json')) {
      await console.out.write(toJsonLine(state))
      return 0
    }
    await console.out.write(
      `${toPlural(state.files, 'transcript')} kept\n${toPlural(state.goneSessions, 'session')} only in the archive, ${toSize(state.bytes)}\n`,
    )
    if (!state.enabled) console.say('note: the archive is off; nothing is added to it.')
    return 0
  } finally {
    await throughline.close()
  }
}

type Pruned = Awaited<ReturnType<LocalThroughline['pruneArchive']>>

/** What may go: older than an age, or beyond a size. */
interface Limits {
  readonly olderThanMs?: number
  readonly keepBytes?: number
}

function toLimits(values: Values): Limits {
  const age = values.value('older-than')
  const size = values.value('larger-than')
  if (age === undefined && size === undefined) {
    throw new ThroughlineError('bad-usage', 'archive prune needs to know what may go', {
      hint: 'Give --older-than 90d, --larger-than 5GB, or both. Add --dry-run to look first.',
    })
  }
  return {
    ...(age === undefined ? {} : { olderThanMs: toSpan(age, 'older-than') }),
    ...(size === undefined ? {} : { keepBytes: toBytes(size) }),
  }
}

const SIZES: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 }

/** A size has a unit: `5` was meant as gigabytes, and emptied the archive as bytes. */
function toBytes(text: string): number {
  const [, count, unit, byte] = /^(\d{1,9}(?:\.\d{1,3})?)\s?([kmgt]?)(b?)$/i.exec(text) ?? []
  const factor = SIZES[unit?.toLowerCase() ?? '']
  const hasUnit = unit !== '' || byte !== ''
  if (count !== undefined && factor !== undefined && hasUnit) return Math.round(Number(count) * factor)
  throw new ThroughlineError(
    'bad-usage',
    count === undefined
      ? `--larger-than is not a size: "${safeLine(text)}"`
      : `--larger-than ${count} has no unit`,
    { hint: `Write it with B, kB, MB, GB or TB: --larger-than ${count ?? 5}GB` },
  )
}

/**
 * Done in this process, daemon or not: the archive is files. What has an original is never removed, so everything that
 * goes is the last copy, and goes only when a person said so.
 */
async function prune(site: Site, values: Values, console: Console): Promise<number> {
  const limits = toLimits(values)
  const dryRun = values.flag('dry-run')
  const throughline = await site.openLocal()
  try {
    const planned = await throughline.pruneArchive({ ...limits, dryRun: true })
    const isAsked = !dryRun && planned.removed.length > 0
    if (!values.flag('json')) await writeFiles(planned, console)
    await console.out.flush()
    if (isAsked) await confirm(console, values, toLoss(planned))
    const only = new Set(planned.removed.map(({ path }) => path))
    const done = isAsked ? await throughline.pruneArchive({ ...limits, only }) : planned
    if (values.flag('json')) {
      await console.out.write(toJsonLine({ ...done, dryRun }))
      return 0
    }
    const files = toPlural(done.removed.length, 'file')
    const what = dryRun ? 'would be deleted' : 'deleted'
    console.say(`${files} ${what}, ${toSize(done.bytes)}; ${toSize(done.bytesLeft)} left`)
    if (dryRun && done.removed.length > 0) {
      console.say(`note: ${toLoss(planned)}`)
      console.say('next: the same without --dry-run')
    }
    return 0
  } finally {
    await throughline.close()
  }
}

/** What cannot be had again, in a sentence. */
function toLoss({ sessions, removed, bytes }: Pruned): string {
  const files = `${toPlural(removed.length, 'file')}, ${toSize(bytes)}`
  return sessions === 0
    ? `The archive has the only copy of ${files}. Deleted, it is lost for good.`
    : `The archive has the only copy of ${toPlural(sessions, 'session')} (${files}). Deleted, ${sessions === 1 ? 'it is' : 'they are'} lost for good.`
}

async function writeFiles({ removed }: Pruned, console: Console): Promise<void> {
  for (const file of removed) {
    const age = toAge(file.lastActivityAt, console.now)
    await console.out.write(
      `${toSize(file.bytes).padStart(8)}  ${age.padStart(4)}  ${toShortPath(file.path, console.home)}\n`,
    )
  }
}
