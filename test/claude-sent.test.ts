import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findTroubles } from '#restore'
import { createLines, POISONED, readLines, toJsonl, type LineMaker, type Poison } from '#testing'
import { faultsOf } from './native-faults.ts'
import { openNativePlace, type NativePlace } from './native-place.ts'

/** Each is a run of the real client: every day one of each kind that it sends as it is, and one that it puts right. */
const CASES: readonly Poison[] = POISONED.filter(
  ({ kinds, isHandled, isUnseen }, at) =>
    isUnseen !== true &&
    (process.env['RUNS'] === 'full' ||
      at === POISONED.findIndex((other) => other.kinds[0] === kinds[0] && other.isHandled === isHandled)),
)

let place: NativePlace
let sessions = 0
beforeAll(async () => {
  place = await openNativePlace(() => [{ kind: 'text', text: 'Going on.' }])
})
afterAll(() => place.close())

/** What is refused of the request with which the real Claude Code goes on; nothing when it makes none. */
async function resume(lines: (make: LineMaker) => readonly object[]): Promise<readonly string[] | undefined> {
  const id = `0c0ffee0-0000-4000-8000-${String(++sessions).padStart(12, '0')}`
  const text = toJsonl(lines(createLines({ sessionId: id, cwd: place.workdir })))
  const from = { agent: 'claude', sessionId: id } as const
  const asked = await place
    .goOn(
      {
        agent: 'claude',
        id,
        workdir: place.workdir,
        files: [{ path: `projects/${place.workdir.replaceAll(/[^a-zA-Z0-9]/gu, '-')}/${id}.jsonl`, text }],
        losses: [],
        lineage: { from, to: from },
        until: '',
        resume: [],
        prompt: ['claude', '--resume', id, '-p'],
      },
      'And now?',
    )
    .catch(() => undefined)
  return asked === undefined ? undefined : faultsOf(asked)
}

describe('what the real Claude Code sends of a session', () => {
  test.each(CASES)(
    '[RST13] it fails with what is found, unless it puts it right: $what',
    async ({ lines, isHandled }) => {
      const faults = await resume(lines)
      if (isHandled === true) expect(faults).toEqual([])
      else expect(faults).not.toEqual([])
      const entries = await readLines(toJsonl(lines(createLines())))
      const found = findTroubles(entries, { agent: 'claude' })
      expect(found.every((trouble) => trouble.isHandled === true)).toBe(isHandled === true)
    },
  )

  test('[RST13] a blank text before thinking, thinking without its words and an answer that is thinking alone are no trouble', async () => {
    const lines = (make: LineMaker): readonly object[] => {
      const answer = (id: string, ...blocks: readonly object[]): readonly object[] =>
        blocks.map((block) =>
          make.reply([], { message: { id, role: 'assistant', model: 'm', content: [block] } }),
        )
      const thought = { type: 'thinking', thinking: '', signature: 'c2ln' }
      return [
        make.prompt('go'),
        ...answer('msg_a', { type: 'text', text: '\n\n' }, thought, {
          type: 'tool_use',
          id: 'toolu_1',
          name: 'Bash',
          input: { command: 'true' },
        }),
        make.result('toolu_1', ''),
        ...answer('msg_b', { type: 'text', text: '\n\n' }),
        make.prompt('on'),
        ...answer('msg_c', { type: 'text', text: 'so' }, { type: 'text', text: ' ' }),
        make.prompt('', {
          message: {
            role: 'user',
            content: [
              { type: 'text', text: '\n' },
              { type: 'text', text: 'look' },
            ],
          },
        }),
        ...answer('msg_d', { type: 'thinking', thinking: 'hm', signature: 'c2ln' }),
      ]
    }
    expect(findTroubles(await readLines(toJsonl(lines(createLines()))), { agent: 'claude' })).toEqual([])
    expect(await resume(lines)).toEqual([])
  })
})
