import { ThroughlineError } from '#base'
import type { Attention } from '#model'
import type { Throughline } from '#wire'
import { toAskLine, toAskText } from './ask-words.ts'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { isBeginningOf } from './id-beginning.ts'
import { toJsonLine } from './json.ts'
import { openFeed } from './live-feed.ts'
import { withLive } from './live-session.ts'
import { toAge, toShortId, toShortPath } from './short.ts'
import type { Site } from './site.ts'
import { toTable } from './table.ts'

/** `throughline attentions` */
export async function attentions(site: Site, values: Values, console: Console): Promise<number> {
  return await withLive(site, async (throughline) => {
    if (values.flag('watch')) return await watch(throughline, values, console)
    const all = await throughline.live.attentions()
    const { arg } = values
    if (arg !== undefined) {
      const found = findAttention(all, arg)
      await console.out.write(values.flag('json') ? toJsonLine(found) : toAskText(found, console))
      return 0
    }
    if (values.flag('json')) await console.out.write(toJsonLine({ attentions: all }))
    else if (all.length === 0) console.say('Nobody waits for you.')
    else await console.out.write(toAttentionTable(all, console))
    return 0
  })
}

/** The attention with this id, or whose id begins like this. Throws `attention-not-found`. */
export function findAttention(all: readonly Attention[], query: string): Attention {
  const found = all.filter(({ id }) => isBeginningOf(query, id))
  const [only, another] = found
  if (only !== undefined && another === undefined) return only
  throw new ThroughlineError(
    'attention-not-found',
    another === undefined ? `nothing is open as ${JSON.stringify(query)}` : `${found.length} begin like this`,
    { hint: 'Look at what is open: `throughline attentions`.' },
  )
}

function toAttentionTable(all: readonly Attention[], { paint, width, home, now }: Console): string {
  const columns = [
    { title: 'id' },
    { title: 'asks', share: 3 },
    { title: 'workdir', share: 1 },
    { title: 'session' },
    { title: 'age', align: 'right' as const },
  ]
  const rows = all.map((attention) => [
    { text: toShortId(attention.id), style: 'code' as const },
    { text: toAskLine(attention) },
    { text: toShortPath(attention.ask.workdir, home), style: 'dim' as const },
    { text: toShortId(attention.sessionId), style: 'code' as const },
    { text: toAge(attention.openedAt, now) },
  ])
  return toTable(columns, rows, { width, paint })
}

/** Tells each attention when it opens and when it is over, until Ctrl-C. */
async function watch(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const isJson = values.flag('json')
  const known = new Map<string, readonly Attention[]>()
  const feed = openFeed(throughline, { kind: 'board' })
  const stop = (): void => feed.close()
  process.once('SIGINT', stop)

  async function change(sessionId: string, open: readonly Attention[]): Promise<void> {
    const before = known.get(sessionId) ?? []
    known.set(sessionId, open)
    for (const one of open.filter((attention) => !isAmong(before, attention))) await tell('opened', one)
    for (const one of before.filter((attention) => !isAmong(open, attention))) await tell('settled', one)
  }

  async function tell(kind: 'opened' | 'settled', attention: Attention): Promise<void> {
    const { id, sessionId } = attention
    const mark = kind === 'opened' ? console.paint('warning', '◆') : console.paint('dim', '✓')
    const line = `${mark} ${toShortId(id)}  ${toAskLine(attention)}  ${console.paint('dim', toShortId(sessionId))}\n`
    const plain = kind === 'opened' ? { kind, attention } : { kind, id, sessionId }
    await console.out.write(isJson ? toJsonLine(plain) : line)
    await console.out.flush()
  }

  try {
    for await (const event of feed) {
      if (event.kind === 'board.changed') await change(event.card.sessionId, event.card.attentions)
      if (event.kind === 'board.removed') await change(event.session, [])
    }
    return 0
  } finally {
    process.off('SIGINT', stop)
    feed.close()
  }
}

function isAmong(all: readonly Attention[], one: Attention): boolean {
  return all.some(({ id }) => id === one.id)
}
