import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isObject, list, object, string } from '#base'
import { TARGETS, type Entry } from '#model'
import { formatOf, openTranscript, readConversation } from '#sources'
import {
  call,
  createLines,
  findAnthropicFaults,
  image,
  PNG,
  POISONED,
  readLines,
  runs,
  SESSION,
  toJsonl,
  type Difference,
} from '#testing'
import { toAnthropic } from '../anthropic.ts'
import { findTroubles } from './check.ts'
import { toRepaired } from './repair.ts'
import { restore } from '../restore.ts'
import { toSaid } from '../said.ts'

/** The request that a client makes of a file that it trusts: lines of one answer together, everything as it is. */
function toNaive(entries: readonly Entry[]): readonly object[] {
  const messages: { role: string; content: unknown[]; id?: string | undefined }[] = []
  for (const entry of entries) {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(entry.raw))
    const message = object(parsed, 'message')
    if (message === undefined || (entry.kind === 'reply' && entry.synthetic)) continue
    const role = string(message, 'role') ?? ''
    const id = string(message, 'id')
    const given = message['content']
    // Blank texts among others are left out by the client, as by everybody.
    const content =
      typeof given === 'string'
        ? [{ type: 'text', text: given }]
        : list(message, 'content').filter((block) => string(block, 'text')?.trim() !== '')
    if (content.length === 0) continue
    const same = id === undefined ? undefined : messages.find((each) => each.id === id)
    const last = messages.at(-1)
    if (same !== undefined) same.content.push(...content)
    else if (last?.role === role) last.content.push(...content)
    else messages.push({ role, content: [...content], id })
  }
  return messages
}

let minted = 0
const mintId = (): string => `10000000-0000-4000-8000-${String(++minted).padStart(12, '0')}`
const COPY = '0c0ffee0-0000-4000-8000-00000000000c'

async function repair(lines: readonly object[]): Promise<{
  readonly kinds: readonly string[]
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly lines: readonly string[]
}> {
  const entries = await readLines(toJsonl(lines))
  const troubles = findTroubles(entries)
  const repaired = toRepaired(entries, troubles, { sessionId: COPY, mintId })
  const again = await readLines(repaired.lines.map((line) => `${line}\n`).join(''))
  expect(findTroubles(again)).toEqual([])
  return {
    kinds: troubles.map(({ kind }) => kind),
    before: findAnthropicFaults(toNaive(entries)),
    after: findAnthropicFaults(toNaive(again)),
    lines: repaired.lines,
  }
}

/** How lines differ in more than the session they belong to, where they came from and where they hang. */
function differenceOf(before: readonly object[], after: readonly string[]): Difference {
  const then = new Map(before.map((line) => [string(line, 'uuid') ?? '', line]))
  const lines = after.map((line): unknown => JSON.parse(line))
  const now = new Map(lines.map((line) => [string(line, 'uuid') ?? '', line]))
  const kept = [...then.keys()].filter((uuid) => now.has(uuid))
  const order = [...now.keys()].filter((uuid) => then.has(uuid))
  let blocks = 0
  for (const uuid of kept) {
    expect(envelopeOf(now.get(uuid))).toEqual(envelopeOf(then.get(uuid)))
    const left = contentOf(now.get(uuid)).map((block) => JSON.stringify(block))
    blocks += contentOf(then.get(uuid)).filter((block) => !left.includes(JSON.stringify(block))).length
  }
  const added = now.size - kept.length
  const gone = then.size - kept.length
  return {
    ...(added === 0 ? {} : { added }),
    ...(gone === 0 ? {} : { gone }),
    ...(order.join() === kept.join() ? {} : { moved: true }),
    ...(blocks === 0 ? {} : { blocks }),
  }
}

function contentOf(line: unknown): readonly unknown[] {
  const content = object(line, 'message')?.['content']
  return typeof content === 'string' ? [{ type: 'text', text: content }] : list({ content }, 'content')
}

function envelopeOf(line: unknown): unknown {
  if (!isObject(line)) return line
  const { sessionId: _id, parentUuid: _parent, forkedFrom: _from, message, ...rest } = line
  return { ...rest, message: isObject(message) ? { ...message, content: [] } : message }
}

describe('pre-flight and repair of what broke others [P01] [P02] [P04] [P09]', () => {
  test.each(POISONED)('$id [E2.3] $what', async ({ lines, kinds, difference, isUnseen }) => {
    const made = lines(createLines())
    const { kinds: found, before, after, lines: mended } = await repair(made)
    if (isUnseen !== true) expect(before).not.toEqual([])
    expect(found).toEqual(kinds)
    expect(after).toEqual([])
    expect(differenceOf(made, mended)).toEqual(difference)
  })

  test.each(POISONED)('$id [E2.1] restored as it is: $what', async ({ lines }) => {
    const entries = await readLines(toJsonl(lines(createLines())))
    const { messages, losses } = toAnthropic(toSaid(entries))
    expect(findAnthropicFaults(messages)).toEqual([])
    for (const { why, origin } of losses) {
      expect(why).not.toBe('')
      expect(entries.some(({ id }) => id === origin.entryId)).toBe(true)
    }
  })

  test('[E2.3] a folder that is gone and a full window are told, each with its place, its reason and what mends it', async () => {
    const make = createLines({ cwd: '/gone' })
    const usage = { input_tokens: 150_000, output_tokens: 1, cache_read_input_tokens: 60_000 }
    const message = { id: 'm', role: 'assistant', model: 'x', usage, content: [{ type: 'text', text: 'so' }] }
    const entries = await readLines(toJsonl([make.prompt('go'), make.reply([], { message })]))
    const troubles = findTroubles(entries, { hasFolder: () => false })
    expect(troubles.map(({ kind }) => kind)).toEqual(['context-too-long', 'workdir-gone'])
    for (const { reason, fix, place, mend } of troubles) {
      expect([reason, fix]).not.toContain('')
      expect(place.length).toBeGreaterThan(0)
      expect(mend).toBeUndefined()
    }
    expect(findTroubles(entries, { window: 1_000_000, hasFolder: () => true })).toEqual([])
  })

  test.each(POISONED)(
    '$id [E2.3] told with a place, a reason and what mends it: $what',
    async ({ lines }) => {
      const text = toJsonl(lines(createLines()))
      for (const { reason, fix, place, origin } of findTroubles(await readLines(text))) {
        expect([reason, fix]).not.toContain('')
        const line: unknown = JSON.parse(
          Buffer.from(text).toString('utf8', place.offset, place.offset + place.length),
        )
        expect(string(line, 'uuid')).toBe(origin.entryId)
      }
    },
  )

  test('[E2.3] recorded sessions without trouble have none, and mending them changes nothing', async () => {
    const root = join(import.meta.dirname, '../../../test/fixtures/claude')
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
    let sound = 0
    for (const name of names.filter((each) => /projects.*\.jsonl$/u.test(each))) {
      const file = openTranscript(join(root, name))
      const { entries } = await readConversation(file, formatOf(name))
      file.close()
      const troubles = findTroubles(entries)
      if (troubles.length > 0) continue
      sound++
      const { lines, mended, left } = toRepaired(entries, troubles, { sessionId: SESSION, mintId })
      expect([mended, left]).toEqual([[], []])
      expect(lines).toHaveLength(entries.length)
    }
    expect(sound).toBeGreaterThan(40)
  })

  test('[E2.3] whatever was cut out of a session, what is mended is taken, and mending it again does nothing', async () => {
    const make = createLines()
    const whole = Array.from({ length: 6 }, (_none, turn) => [
      make.prompt(`turn ${turn}`),
      make.reply([
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        call(`toolu_${turn}a`),
        call(`toolu_${turn}b`),
      ]),
      make.result(`toolu_${turn}a`, 'one'),
      make.result(`toolu_${turn}b`, [{ type: 'text', text: 'two' }, image(PNG)]),
      make.reply([{ type: 'text', text: 'so' }]),
    ]).flat()
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(whole.length - 1), { maxLength: 12 }), async (cut) => {
        const lines = whole.filter((_line, at) => at === 0 || !cut.includes(at))
        const { after } = await repair(lines)
        expect(after).toEqual([])
      }),
      runs(60),
    )
  })
})

test('[E2.3] a tool that printed nothing is nothing that fails', async () => {
  const make = createLines()
  const use = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'true' } }
  const silent = [make.prompt('go'), make.reply([use]), make.result('toolu_1', '')]
  expect(findTroubles(await readLines(toJsonl(silent)))).toEqual([])
})

describe('texts without a word', () => {
  const make = createLines()
  const lines = [
    make.prompt('go'),
    make.reply([
      { type: 'text', text: '\n\n' },
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'text', text: 'so' },
    ]),
    make.prompt('on'),
    make.reply([{ type: 'text', text: ' ' }]),
    make.prompt('and on'),
    make.reply([{ type: 'thinking', thinking: 'hm', signature: 'sig' }]),
  ]

  test('[RST13] a blank text in an answer is no trouble: the client sends none of them', async () => {
    expect(findTroubles(await readLines(toJsonl(lines)))).toEqual([])
  })

  test.each(TARGETS)('[RST14] none is sent to another provider, and each is told: %s', async (target) => {
    const { messages, losses } = restore(await readLines(toJsonl(lines)), target)
    expect(JSON.stringify(messages)).not.toMatch(/"(?:text|content)":"\s*(?:\\n)*"/u)
    expect(losses.filter(({ kind }) => kind === 'empty-text')).toHaveLength(2)
  })

  test('[RST14] an answer that is thinking alone stays out of last place for Anthropic, and is told', async () => {
    const { messages, losses } = restore(await readLines(toJsonl(lines)), 'anthropic')
    expect(messages.at(-1)).toMatchObject({ role: 'user' })
    expect(losses.filter(({ kind }) => kind === 'thinking')).toHaveLength(1)
    // Elsewhere it is taken.
    const inside = restore(await readLines(toJsonl([...lines, make.prompt('still there?')])), 'anthropic')
    expect(inside.losses.filter(({ kind }) => kind === 'thinking')).toEqual([])
  })

  test('[RST14] blanks that OpenAI or Gemini said go back to them as they were', async () => {
    const own = createLines()
    const said = (provider: string, note: object): Promise<readonly Entry[]> =>
      readLines([
        own.prompt('go'),
        own.reply([{ type: 'text', text: '\n', ...note }], { provider }),
        own.prompt('on'),
      ])
    const openai = restore(await said('codex', { openai: { id: 'msg_1' } }), 'openai-responses')
    expect(JSON.stringify(openai.messages)).toContain('"text":"\\n"')
    const gemini = restore(await said('gemini', { gemini: {} }), 'gemini')
    expect(JSON.stringify(gemini.messages)).toContain('"text":"\\n"')
    expect([...openai.losses, ...gemini.losses]).toEqual([])
  })
})

test('[RST13] [P04] thinking that came without its words goes back exactly as it was signed', async () => {
  const make = createLines()
  const thought = { type: 'thinking', thinking: '', signature: 'sig' }
  const entries = await readLines(
    toJsonl([make.prompt('go'), make.reply([thought, { type: 'text', text: 'so' }])]),
  )
  expect(findTroubles(entries)).toEqual([])
  const { messages, losses } = restore(entries, 'anthropic')
  expect(messages[1]).toEqual({ role: 'assistant', content: [thought, { type: 'text', text: 'so' }] })
  expect(losses).toEqual([])
})

test('[RST13] a context that the model has answered to is not too long for it, and one that the provider refused is', async () => {
  const make = createLines()
  const usage = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 414_000 }
  const message = {
    id: 'm',
    role: 'assistant',
    model: 'claude-x',
    usage,
    content: [{ type: 'text', text: 'so' }],
  }
  const lines = [make.prompt('go'), make.reply([], { message })]
  expect(findTroubles(await readLines(lines), { window: 1_000_000 })).toEqual([])
  const words = 'API Error: 400 {"error":{"type":"invalid_request_error","message":"prompt is too long"}}'
  const refused = make.reply([], {
    message: { id: 'e', role: 'assistant', model: '<synthetic>', content: [{ type: 'text', text: words }] },
    isApiErrorMessage: true,
  })
  const kinds = findTroubles(await readLines([...lines, refused]), { window: 1_000_000 }).map(
    ({ kind }) => kind,
  )
  expect(kinds).toEqual(['context-too-long'])
})
