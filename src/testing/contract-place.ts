import { appendFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LiveEvent, Throughline, Topic } from '#wire'
import { createLines, toJsonl, writeTranscript, type LineMaker } from './claude-lines.ts'
import { openTempDir } from './temp-dir.ts'

/** Folders with known sessions, for one run of the contract. */
export interface Place {
  readonly home: string
  readonly claudeDir: string
  /** What `openThroughline` reads its settings from. */
  readonly env: Readonly<Record<string, string>>
  readonly shop: MadeSession
  readonly blog: MadeSession
  /** Recorded sessions: one with a subagent, one that was compacted, one with damage. */
  readonly delegating: string
  readonly compacted: string
  readonly damaged: string
  remove(): Promise<void>
}

/** A session whose lines the contract writes itself. */
export interface MadeSession {
  readonly id: string
  readonly path: string
  readonly lines: LineMaker
  append(...lines: readonly object[]): Promise<void>
}

const FIXTURES = join(import.meta.dirname, '../../test/fixtures/claude')
const RECORDED = ['subagent', 'compact_manual', 'torn']

/** Makes the folders that the contract is about. */
export async function openPlace(): Promise<Place> {
  const temp = await openTempDir()
  const claudeDir = join(temp.path, 'claude')
  const home = join(temp.path, 'home')
  await mkdir(home, { mode: 0o700 })
  // What one session said is not told to the next, unless a test is about that.
  await writeFile(join(home, 'config.json'), '{"wakeUp":{"on":false}}', { mode: 0o600 })
  for (const scenario of RECORDED) {
    await cp(join(FIXTURES, scenario, 'config/projects'), join(claudeDir, 'projects'), { recursive: true })
  }
  return {
    home,
    claudeDir,
    env: { HOME: temp.path, THROUGHLINE_HOME: home, CLAUDE_CONFIG_DIR: claudeDir },
    shop: await makeShop(claudeDir),
    blog: await makeBlog(claudeDir),
    delegating: '64d3dcee-fd77-4351-b97a-8f893ae3c006',
    compacted: '7cba7611-621c-4d97-bbec-3ccbfc75c8fe',
    damaged: '2d4f005c-4cdb-4587-b454-12b1fd1dc5e0',
    remove: () => temp.remove(),
  }
}

/** Long enough for several pages, with words that occur nowhere else: said, thought, and printed by a tool. */
async function makeShop(claudeDir: string): Promise<MadeSession> {
  const id = 'aaaaaaaa-1111-4000-8000-000000000001'
  const lines = createLines({ sessionId: id, cwd: '/home/user/work/shop' })
  const made: object[] = [lines.prompt('Please fix the checkout')]
  for (let turn = 0; turn < 60; turn++) {
    const call = `toolu_shop_${turn}`
    made.push(
      lines.reply([
        { type: 'text', text: turn === 30 ? 'The kumquat is ripe.' : `Step ${turn}.` },
        { type: 'tool_use', id: call, name: 'Bash', input: { command: `step ${turn}` } },
      ]),
      lines.result(call, turn === 20 ? 'found a zanzibar and a kumquat' : `ok ${turn}`),
      lines.reply([{ type: 'text', text: `Done with ${turn}.` }]),
      lines.prompt(`And number ${turn + 1}?`),
    )
  }
  return await writeMade(claudeDir, { id, project: '-home-user-work-shop', lines, made })
}

async function makeBlog(claudeDir: string): Promise<MadeSession> {
  const id = 'aaaaaaaa-2222-4000-8000-000000000002'
  const lines = createLines({ sessionId: id, cwd: '/home/user/work/blog' })
  const made = [
    lines.prompt('Write about tea'),
    lines.reply([{ type: 'text', text: 'Tea is a leaf.' }]),
    { type: 'custom-title', customTitle: 'On tea', sessionId: id },
  ]
  return await writeMade(claudeDir, { id, project: '-home-user-work-blog', lines, made })
}

async function writeMade(
  claudeDir: string,
  plan: {
    readonly id: string
    readonly project: string
    readonly lines: LineMaker
    readonly made: readonly object[]
  },
): Promise<MadeSession> {
  const { id, lines } = plan
  const path = await writeTranscript(claudeDir, toJsonl(plan.made), { id, project: plan.project })
  return { id, path, lines, append: (...more) => appendFile(path, toJsonl(more)) }
}

/** What a subscription has told so far, and a way to wait for more. */
export interface Listening {
  readonly events: readonly LiveEvent[]
  readonly errors: readonly Error[]
  readonly cursor: string | undefined
  /** Resolves when it is so; rejects when it is not so after a long time. */
  until(isSo: (events: readonly LiveEvent[]) => boolean): Promise<void>
  close(): void
}

const HANG_MS = 90_000

/** Subscribes and keeps what is told. */
export function listen(throughline: Throughline, topic: Topic, cursor?: string): Listening {
  const events: LiveEvent[] = []
  const errors: Error[] = []
  let wake: (() => void) | undefined
  const subscription = throughline.subscribe(topic, {
    ...(cursor === undefined ? {} : { cursor }),
    onEvent(event) {
      events.push(event)
      wake?.()
    },
    onError(error) {
      errors.push(error)
      wake?.()
    },
  })
  return {
    events,
    errors,
    get cursor() {
      return subscription.cursor
    },
    async until(isSo) {
      const deadline = performance.now() + HANG_MS
      while (!isSo(events)) {
        if (performance.now() > deadline) {
          const told = events.map(({ kind }) => kind).slice(-20)
          throw new Error(`never told: ${JSON.stringify(told)}, errors: ${errors.map(String).join()}`)
        }
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, 1000)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
    },
    close: () => subscription.close(),
  }
}

/** Ids of the entries that were told since the last reset. */
export function idsOf(events: readonly LiveEvent[]): readonly string[] {
  const from = events.findLastIndex(({ kind }) => kind === 'reset') + 1
  return events
    .slice(from)
    .flatMap((event) =>
      event.kind === 'entry.added'
        ? event.readings.flatMap((reading) => (reading.kind === 'entry' ? [reading.entry.id] : []))
        : [],
    )
}

/** The bytes of a file, to compare with. */
export async function bytesOf(path: string): Promise<Uint8Array> {
  return await readFile(path)
}
