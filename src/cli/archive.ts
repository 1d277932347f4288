import { ThroughlineError } from '#base'
import { toPlural, toSize } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { toAge, toShortPath } from './short.ts'
import { openAnywhere, type Site } from './site.ts'

/** `throughline archive` */
export async function archive(site: Site, values: Values, console: Console): Promise<number> {
  if (values.arg === 'prune') return await prune(site, values, console)
  const throughline = await openAnywhere(site)
  try {
    const state = (await throughline.health()).archive
    if (values.flag('json')) await console.out.write(toJsonLine(state))
    else if (!state.enabled) console.say('The archive is off.')
    else {
      await console.out.write(
        `${toPlural(state.files, 'transcript')} kept\n${toPlural(state.goneSessions, 'session')} only there any more, ${toSize(state.bytes)}\n`,
      )
    }
    return 0
  } finally {
    await throughline.close()
  }
}

/** What may go: older than an age, or beyond a size. */
interface Limits {
  readonly olderThanMs?: number
  readonly keepBytes?: number
  readonly dryRun: boolean
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
    ...(age === undefined ? {} : { olderThanMs: toMs(age) }),
    ...(size === undefined ? {} : { keepBytes: toBytes(size) }),
    dryRun: values.flag('dry-run'),
  }
}

const DAY_MS = 86_400_000
const AGES: Readonly<Record<string, number>> = {
  h: DAY_MS / 24,
  d: DAY_MS,
  w: 7 * DAY_MS,
  m: 30 * DAY_MS,
  y: 365 * DAY_MS,
}
const SIZES: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 }

function toMs(text: string): number {
  const [, count, unit] = /^(\d{1,6})\s?([hdwmy])$/i.exec(text) ?? []
  const factor = AGES[unit?.toLowerCase() ?? '']
  if (count !== undefined && factor !== undefined) return Number(count) * factor
  throw new ThroughlineError('bad-usage', `--older-than cannot be "${text}"`, {
    hint: 'Write a number and h, d, w, m or y: 90d.',
  })
}

function toBytes(text: string): number {
  const [, count, unit] = /^(\d{1,6}(?:\.\d{1,3})?)\s?([kmgt]?)b?$/i.exec(text) ?? []
  const factor = SIZES[unit?.toLowerCase() ?? '']
  if (count !== undefined && factor !== undefined) return Math.round(Number(count) * factor)
  throw new ThroughlineError('bad-usage', `--larger-than cannot be "${text}"`, {
    hint: 'Write a number and kB, MB, GB or TB: 5GB.',
  })
}

/** Done in this process, daemon or not: the archive is files. */
async function prune(site: Site, values: Values, console: Console): Promise<number> {
  const limits = toLimits(values)
  const throughline = await site.openLocal()
  try {
    const { removed, bytes, bytesLeft } = await throughline.pruneArchive(limits)
    if (values.flag('json')) {
      await console.out.write(toJsonLine({ removed, bytes, bytesLeft, dryRun: limits.dryRun }))
      return 0
    }
    for (const file of removed) {
      const age = toAge(file.modifiedAt, console.now)
      await console.out.write(
        `${toSize(file.bytes).padStart(8)}  ${age.padStart(4)}  ${toShortPath(file.path, console.home)}\n`,
      )
    }
    const what = limits.dryRun ? 'would be removed' : 'removed'
    console.say(`${toPlural(removed.length, 'file')} ${what}, ${toSize(bytes)}; ${toSize(bytesLeft)} left`)
    if (limits.dryRun && removed.length > 0) console.say('next: the same without --dry-run')
    return 0
  } finally {
    await throughline.close()
  }
}
