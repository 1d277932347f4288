/**
 * A stand-in for a daemon, in a process of its own: it keeps the live sessions of a home, does what each line of JSON
 * on its standard input says, and prints what comes of it.
 *
 *     node dist/testing/roster-child.js <home> <the program of a host>
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { field, object, parseJson, string, ThroughlineError } from '#base'
import { createClock, openRoster } from '#live'
import type { HostCommand, Roster } from '#live'
import type { Resolution } from '#model'

const [home = '', program = ''] = process.argv.slice(2)
const roster = await openRoster({
  home,
  clock: createClock(() => Date.now()),
  program: { command: process.execPath, args: [program], env: { PATH: process.env['PATH'] ?? '' } },
  findOwner: () => Promise.resolve(undefined),
  lookMs: 200,
})
roster.listen((sessionId, news) => {
  if ('event' in news && news.event.kind === 'delta') return
  say({ sessionId, news: 'event' in news ? news.event : { kind: 'view', seq: news.view.seq } })
})
say({ ready: true, sessions: roster.list(), attentions: roster.attentions() })
for await (const line of createInterface({ input: process.stdin })) void obey(parseJson(line), roster)
await roster.close()

async function obey(order: unknown, on: Roster): Promise<void> {
  const re = field(order, 're')
  try {
    say({ re, value: (await act(order, on)) ?? null })
  } catch (error) {
    if (!(error instanceof ThroughlineError)) throw error
    say({ re, refused: error.code, message: error.message })
  }
}

async function act(order: unknown, on: Roster): Promise<unknown> {
  const sessionId = string(order, 'sessionId') ?? ''
  const id = string(order, 'id') ?? ''
  const by = string(order, 'by') ?? 'child'
  switch (string(order, 'do')) {
    case 'start':
      return await on.start({
        sessionId,
        agent: 'scripted',
        workdir: string(order, 'workdir') ?? home,
        trusted: false,
        env: { PATH: process.env['PATH'] ?? '' },
        settings: object(order, 'settings'),
        resume: string(order, 'resume') === undefined ? undefined : { sessionId },
      })
    case 'prompt':
      return await on.prompt(sessionId, {
        id,
        blocks: [{ kind: 'text', text: string(order, 'text') ?? '' }],
        by,
      })
    case 'answer':
      return await on.resolve(sessionId, {
        id,
        hash: string(order, 'hash') ?? '',
        resolution: toAnswer(order),
        by,
      })
    case 'list':
      return { sessions: on.list(), attentions: on.attentions() }
    default: {
      const command: HostCommand = string(order, 'do') === 'end' ? { do: 'end' } : { do: 'interrupt' }
      return await on.command(sessionId, command)
    }
  }
}

function toAnswer(order: unknown): Resolution {
  return field(order, 'allow') === true ? { kind: 'allow', rules: [] } : { kind: 'deny', words: 'no' }
}

function say(value: object): void {
  writeSync(1, `${JSON.stringify(value)}\n`)
}
