import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseWakeUp, type DocumentDraft } from '#model'
import { createLines, toJsonl, writeTranscript } from '#testing'
import { ID, itemsOf, openWakeUpPlace, talk, text, type WakeUpPlace } from './fixtures/wake-up-place.ts'

let place: WakeUpPlace
beforeEach(async () => {
  place = await openWakeUpPlace()
})
afterEach(async () => await place.close())

describe('the previous session', () => {
  test('[A4.1] is the completed one of the folder that spoke last: not a live, foreign, unanswered or programmed one', async () => {
    await place.session(ID(1), talk('the older question', 'older answer', 1))
    await place.session(ID(2), talk('the newer question', 'newer answer', 5))
    // It wrote something after its last message, and yet spoke before the newer one.
    await place.session(ID(3), (lines) => [
      ...talk('an early question', 'early answer', 3)(lines),
      lines.system('turn_duration', { timestamp: '2026-11-16T07:59:00.000Z' }),
    ])
    await place.session(ID(4), talk('elsewhere', 'elsewhere', 30), join(place.path, 'other'))
    await place.session(ID(5), (lines) => [
      lines.prompt('nobody answered', { timestamp: '2026-11-16T07:40:00.000Z' }),
    ])
    await place.session(ID(6), (lines) => [
      lines.prompt('a program asks', {
        timestamp: '2026-11-16T07:45:00.000Z',
        promptSource: 'sdk',
        entrypoint: 'sdk-ts',
      }),
      lines.reply([text('answered')], { timestamp: '2026-11-16T07:46:00.000Z' }),
    ])
    await place.session(ID(7), talk('a live one', 'talks now', 50))
    mkdirSync(join(place.path, 'claude', 'sessions'))
    const { startTime } = { startTime: readFileSync('/proc/self/stat', 'utf8').split(' ')[21] }
    writeFileSync(
      join(place.path, 'claude', 'sessions', `${process.pid}.json`),
      JSON.stringify({ pid: process.pid, sessionId: ID(7), procStart: startTime, status: 'idle' }),
    )
    const { parts } = await place.preview()
    expect(parts.transcript?.sessionId).toBe(ID(2))
    expect((await place.wakeUps.preview({ workdir: join(place.path, 'other') })).receipt.sessionId).toBe(
      ID(4),
    )
  })

  test('[A4.1] it may be of another agent, and no subagent', async () => {
    await place.session(ID(1), talk('asked of Claude', 'answered', 1))
    const path = await place.session(ID(2), talk('asked of Codex', 'answered by it', 9))
    const recorded = join(place.home, 'recorded', 'codex', 'projects', 'p')
    mkdirSync(recorded, { recursive: true })
    writeFileSync(join(recorded, `${ID(3)}.jsonl`), readFileSync(path, 'utf8').replaceAll(ID(2), ID(3)))
    // A subagent whose session is gone is listed by itself.
    const lone = createLines({ sessionId: ID(9), cwd: place.workdir })
    const sub = talk(
      'asked of a subagent',
      'done',
      20,
    )(lone).map((line) => ({ ...line, isSidechain: true, agentId: 'abc' }))
    writeFileSync(join(path, '..', 'agent-abc.jsonl'), toJsonl(sub))
    writeFileSync(path, '')
    const { parts } = await place.preview()
    expect(parts.transcript?.sessionId).toBe(ID(3))
    expect(parts.transcript?.lines.map((line) => ('name' in line ? line.name : ''))).toEqual([
      'the user',
      'Codex',
    ])
  })

  test('[A4.2] [A5.1] [A5.2] it is text only, in order, with names; what its tag says is true of what is inside', async () => {
    await place.session(ID(1), (lines) => [
      lines.prompt('First <b>question</b>'),
      lines.reply([
        { type: 'thinking', thinking: 'secretly', signature: '' },
        text('Let me look. [REMEMBER] {"content":"x"}'),
      ]),
      lines.reply([{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }]),
      lines.result('t1', 'a-file'),
      lines.reply([text('It is there.')]),
      lines.system('compact_boundary', {
        content: 'Conversation compacted',
        compactMetadata: { trigger: 'manual' },
      }),
      lines.prompt('All that was said, in short', { isCompactSummary: true }),
      lines.prompt('Second question'),
      lines.reply([text('Second answer.')]),
    ])
    const { parts, text: whole, receipt } = await place.preview()
    expect(parts.transcript?.lines).toEqual([
      { speaker: 'human', name: 'the user', text: 'First <b>question</b>' },
      { speaker: 'agent', name: 'Claude', text: 'Let me look.' },
      { speaker: 'agent', name: 'Claude', text: 'It is there.' },
      { speaker: 'human', name: 'the user', text: 'Second question' },
      { speaker: 'agent', name: 'Claude', text: 'Second answer.' },
    ])
    expect(whole).toMatch(
      new RegExp(
        `^<previous-session category="transcript" session-id="${ID(1)}" message-count="5" ended="2026-11-15T08:00:09.000Z">$`,
        'm',
      ),
    )
    expect(receipt.messages).toHaveLength(5)
    expect(whole).not.toMatch(/secretly|a-file|in short|"content":"x"/)
  })

  test('[A4.3] a transcript that the client sends gives the same wake-up as the one that is found', async () => {
    await place.session(ID(1), talk('What about the harbour?', 'It is full.', 2))
    await place.remember('The harbour opens at six.')
    const found = await place.preview()
    const previousTranscript = {
      sessionId: ID(1),
      ended: found.parts.transcript?.ended ?? '',
      messages: [
        { speaker: 'human', text: 'What about the harbour?' },
        { speaker: 'agent', text: 'It is full.\n[REMEMBER] {"content":"The harbour is full"}' },
        { speaker: 'agent', text: '  ' },
        { speaker: 'human', text: found.text },
      ],
    } as const
    expect((await place.preview({ previousTranscript })).text).toBe(found.text)
  })

  test('[WAK25] [A3.2] one that was ended for this one wins, when all that was told of it is on disk', async () => {
    const path = await place.session(ID(1), talk('to be ended', 'yes', 1))
    await place.session(ID(2), talk('later elsewhere', 'yes', 30))
    const whole = readFileSync(path, 'utf8')
    const last = talk(
      'the last words',
      'heard',
      2,
    )(createLines({ sessionId: ID(1), cwd: place.workdir })).map((line, at) => ({
      ...line,
      uuid: `late-${at}`,
      parentUuid: at === 0 ? '00000000-0000-4000-8000-000000000002' : 'late-0',
    }))
    const beginning = place.wakeUps.begin({
      sessionId: ID(3),
      agent: 'claude',
      workdir: place.workdir,
      after: ID(1),
      told: ['late-1'],
    })
    setTimeout(() => writeFileSync(path, whole + toJsonl(last)), 250)
    const parts = parseWakeUp((await beginning) ?? '')
    expect(parts?.transcript?.sessionId).toBe(ID(1))
    expect(parts?.transcript?.lines.map((line) => ('text' in line ? line.text : ''))).toContain('heard')
  })

  test('[WAK24] [R02] a wake-up is never in the next one, and counts as no prompt of a person', async () => {
    await place.session(ID(1), talk('before', 'before it', 1))
    await place.remember('A learning.')
    const first = await place.preview()
    await place.session(ID(2), (lines) => [
      lines.prompt(first.text, {
        timestamp: '2026-11-16T08:00:00.000Z',
        promptSource: 'sdk',
        entrypoint: 'throughline',
      }),
      lines.reply([text('Hello again.')], { timestamp: '2026-11-16T08:00:01.000Z' }),
    ])
    // Nobody but us has said anything there.
    expect((await place.preview()).receipt.sessionId).toBe(ID(1))
    const lines = createLines({ sessionId: ID(2), cwd: place.workdir })
    const path = await writeTranscript(
      join(place.path, 'claude'),
      toJsonl([
        lines.prompt(first.text, { timestamp: '2026-11-16T08:00:00.000Z' }),
        lines.reply([text('Hello again.')], { timestamp: '2026-11-16T08:00:01.000Z' }),
        lines.prompt('my own first words', { timestamp: '2026-11-16T08:00:02.000Z' }),
        lines.reply([text('Yes.')], { timestamp: '2026-11-16T08:00:03.000Z' }),
      ]),
      { id: ID(2), project: place.workdir.replaceAll(/\W/g, '-') },
    )
    const next = await place.preview()
    expect(next.parts.transcript?.lines.map((line) => ('text' in line ? line.text : ''))).toEqual([
      'Hello again.',
      'my own first words',
      'Yes.',
    ])
    const found = await place.throughline.get(ID(2))
    expect(found.path).toBe(path)
    expect([found.firstPrompt, found.name]).toEqual(['my own first words', 'my own first words'])
    const surveyed = await place.throughline.survey(found)
    expect(surveyed.facts?.prompts).toBe(1)
    const digest = await place.throughline.digest(found)
    expect(digest.outline.map((point) => ('text' in point ? point.text : ''))).toEqual(['my own first words'])
    const hits = await place.throughline.search({ q: 'learning' })
    expect(hits.hits.filter((hit) => hit.session.id === ID(2))).toEqual([])
  })
})

describe('documents', () => {
  test('[B5.1] [WAK15] each in its section; what is held back, expired, or meant for others stays out, with the reason', async () => {
    await place.remember('Known.')
    await place.remember('I am Ann.', { category: 'identity', workdir: '/elsewhere' })
    await place.remember('Run the tests first.', { category: 'operational' })
    await place.remember('Explain slowly.', { type: 'teaching' })
    await place.remember('For Codex.', {
      id: 'codex',
      type: 'teaching',
      audience: { agents: ['codex'], workdirs: [] },
    })
    await place.remember('For shops.', {
      id: 'shop',
      type: 'teaching',
      audience: { agents: [], workdirs: ['/shop'] },
    })
    await place.remember('Here only.', {
      type: 'teaching',
      audience: { agents: ['claude'], workdirs: [place.path] },
    })
    await place.remember('Of another folder.', { id: 'other', workdir: '/elsewhere' })
    await place.remember('Held.', { id: 'held', quarantine: 'copied from a page' })
    await place.remember('Over.', { id: 'over', expiresAt: '2026-01-01T00:00:00.000Z' })
    await place.remember('A moment.', { type: 'marker' })
    const gone = await place.remember('Retired.')
    await place.documents.retire(gone, { by: 'test' })
    const made = await place.preview()
    expect(made.text).toContain('<context category="knowledge" document-count="1">\n- Known.\n</context>')
    expect(itemsOf(made, 'identity')).toEqual(['I am Ann.'])
    expect(itemsOf(made, 'operational')).toEqual(['Run the tests first.'])
    expect(itemsOf(made, 'teaching').toSorted()).toEqual(['Explain slowly.', 'Here only.'])
    const left = Object.fromEntries(
      made.receipt.documentsLeft.map(({ id, reason, detail }) => [id, detail ?? reason]),
    )
    expect(left).toEqual({
      codex: 'meant for another agent',
      shop: 'meant for another folder',
      other: 'learned in another folder',
      held: 'copied from a page',
      over: 'expired',
    })
    expect(itemsOf(await place.preview({ agent: 'codex' }), 'teaching')).toContain('For Codex.')
  })

  test('[B6.3] [WAK16] pinned first, then by folder, talk, use and age, within the budget', async () => {
    place.configure({ wakeUp: { budget: { documents: 90 } } })
    const weak = { speakerType: 'agent' } as const
    const rows: readonly (readonly [string, Partial<DocumentDraft>, Partial<DocumentDraft>])[] = [
      ['folder', { ...weak, workdir: place.workdir }, weak],
      ['inside', { ...weak, workdir: place.path }, { ...weak, workdir: join(place.workdir, 'deep') }],
      ['person', { speakerType: 'human' }, weak],
      ['age', { ...weak, tags: ['convention'] }, { ...weak, tags: ['status'] }],
    ]
    for (const [name, better, worse] of rows) {
      const ids = await Promise.all([
        place.remember(`${name} words ${'and so on '.repeat(12)}`, { ...better, id: `${name}-b` }),
        place.remember(`${name} words ${'and so on '.repeat(12)}`, { ...worse, id: `${name}-a` }),
      ])
      place.clock += 20 * 24 * 3600 * 1000
      const { receipt } = await place.preview()
      expect([name, receipt.documents.map(({ id }) => id)]).toEqual([name, [`${name}-b`]])
      for (const id of ids) await place.documents.retire(id, { by: 'test' })
    }
    await place.remember(`harbour tide table ${'and so on '.repeat(12)}`, { id: 'z-talked' })
    await place.remember(`garden hose length ${'and so on '.repeat(12)}`, { id: 'a-not' })
    expect(
      (await place.preview({ prompt: 'When is high tide in the harbour?' })).receipt.documents,
    ).toMatchObject([{ id: 'z-talked' }])
    expect((await place.preview()).receipt.documents).toMatchObject([{ id: 'a-not' }])
    const provenance = { sessionId: 's', entryId: 'e', block: 0, position: 0 }
    await place.documents.confirm('z-talked', { by: 'test', provenance })
    expect((await place.preview()).receipt.documents).toMatchObject([{ id: 'z-talked' }])
    await place.documents.pin('a-not', { by: 'test' })
    const { receipt } = await place.preview()
    expect(receipt.documents).toMatchObject([{ id: 'a-not' }])
    expect(receipt.documentsLeft).toMatchObject([{ id: 'z-talked', reason: 'budget' }])
  })

  test('[WAK16] carried often and never said again, it makes room', async () => {
    place.configure({ wakeUp: { budget: { documents: 90 } } })
    await place.remember(`first words ${'and so on '.repeat(12)}`, { id: 'a' })
    await place.remember(`other words ${'and so on '.repeat(12)}`, { id: 'b' })
    const carried = new Set<string>()
    for (let n = 1; n < 12; n += 1) {
      await place.wakeUps.begin({ sessionId: ID(n), agent: 'claude', workdir: place.workdir })
      for (const { receipt } of await place.wakeUps.kept(ID(n)))
        for (const { id } of receipt.documents) carried.add(id)
    }
    expect([...carried]).toEqual(['a', 'b'])
  })

  test('[WAK17] says when its file has changed or is gone', async () => {
    const file = join(place.workdir, 'a.txt')
    writeFileSync(file, 'one')
    const hash = createHash('sha256').update('one').digest('hex')
    await place.remember('Learned from a file.', { workdir: place.workdir, files: [{ path: file, hash }] })
    expect((await place.preview()).text).toContain('- Learned from a file.')
    writeFileSync(file, 'two')
    expect((await place.preview()).text).toContain('- (its file has changed since) Learned from a file.')
    writeFileSync(join(place.workdir, 'b'), '')
    await place.remember('From nothing.', {
      workdir: place.workdir,
      files: [{ path: join(place.workdir, 'no'), hash }],
    })
    expect((await place.preview()).text).toContain('- (its file is gone) From nothing.')
  })

  test('[WAK7] [WAK9] the same gives the same, and contradictions come together', async () => {
    await place.remember('The port is 80.', { id: 'a', contradicts: ['b'] })
    await place.remember('The port is 81.', { id: 'b' })
    await place.remember('Something else.')
    const [one, two] = [await place.preview(), await place.preview()]
    expect(one.text).toBe(two.text)
    expect(one.text.match(/disagrees with another note/g)).toHaveLength(2)
  })
})
