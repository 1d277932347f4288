import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Resolution } from '#model'
import { idsOf, listen } from './contract-place.ts'
import { expectError, type Given, type Suite } from './contract-suite.ts'
import {
  close,
  deltasOf,
  eventuallyStill,
  hasEnded,
  hearing,
  isIdle,
  isTakenOff,
  messagesOf,
  openOne,
  outcomeOf,
  say,
  stateOf,
  turnsEnded,
  waits,
  type Begun,
} from './running-stage.ts'

/** The part of the contract that runs agents: a scripted one, in real hosts. */
export function describeRunning(suite: Suite, given: Given): void {
  const { expect, test } = suite

  /** A live session of the scripted agent in a folder of its own. */
  async function begin(request: { readonly text?: string } = {}): Promise<Begun> {
    const { throughline, place } = given()
    const workdir = join(place.home, '..', 'work', randomUUID())
    await mkdir(workdir, { recursive: true })
    const prompt = request.text === undefined ? {} : { prompt: say(request.text) }
    const view = await throughline.live.start({ agent: 'scripted', workdir, ...prompt })
    return { throughline, workdir, id: view.sessionId, view }
  }

  test('a session is there at once under the id that it keeps, in every list', async () => {
    const { throughline, id, view } = await begin()
    expect(['pending', 'idle']).toContain(view.state.state)
    expect((await throughline.get(id)).live).toMatchObject({ here: true })
    expect((await throughline.health()).sessions.live.map((session) => session.id)).toContain(id)
    const page = await throughline.page(await throughline.get(id), { limit: 10 })
    expect(page.readings).toEqual([])
    await throughline.live.end(id)
  })

  test('what is said is told word by word, then stands in the transcript under the same ids', async () => {
    const { throughline, id } = await begin()
    const live = await hearing(throughline, id)
    const disk = listen(throughline, { kind: 'session', id })
    const prompt = say('[[say one two three]]')
    expect(await throughline.live.prompt(id, prompt)).toMatchObject({ id: prompt.id })
    await live.until((events) => hasEnded(events))
    const told = messagesOf(live.events)
    expect(told.map(({ role }) => role)).toEqual(['person', 'agent'])
    expect(told[0]?.id).toBe(prompt.id)
    expect(deltasOf(live.events)).toBe('one two three')
    await disk.until((events) => told.every((message) => idsOf(events).includes(message.id ?? '')))
    expect(new Set(idsOf(disk.events)).size).toBe(idsOf(disk.events).length)
    await close(throughline, id, live, disk)
  })

  test('a prompt sent twice is one prompt, and one to a session that is over is refused', async () => {
    const { throughline, id } = await begin()
    const live = await hearing(throughline, id)
    const prompt = say('[[say once]]')
    await Promise.all([throughline.live.prompt(id, prompt), throughline.live.prompt(id, prompt)])
    await live.until((events) => hasEnded(events))
    await throughline.live.prompt(id, prompt)
    expect(messagesOf(live.events).filter(({ role }) => role === 'person')).toHaveLength(1)
    await throughline.live.end(id)
    await live.until((events) => stateOf(events) === 'ended')
    await expectError(throughline.live.prompt(id, say('too late')), 'session-ended')
    live.close()
  })

  test('a permission is asked on the board and in the session, and the answer decides', async () => {
    const { throughline, workdir, id } = await begin()
    const board = listen(throughline, { kind: 'board' })
    const live = await hearing(throughline, id)
    const answers: readonly (readonly [Resolution, boolean])[] = [
      [{ kind: 'deny', words: 'not today' }, false],
      [{ kind: 'allow', rules: [] }, true],
    ]
    for (const [index, [resolution, isThere]] of answers.entries()) {
      const file = join(workdir, `made-${index}`)
      await throughline.live.prompt(id, say(`[[tool Bash ${JSON.stringify({ command: `touch ${file}` })}]]`))
      const attention = await openOne(throughline, id)
      expect(attention.ask).toMatchObject({ kind: 'permission', tool: 'Bash', workdir })
      await board.until((events) => waits(events, id))
      expect((await throughline.get(id)).live?.status).toBe('waiting')
      const { hash } = attention
      expect(await throughline.live.resolve({ id: attention.id, hash, resolution })).toMatchObject({
        kind: 'won',
        state: { state: 'resolved', resolution },
      })
      await live.until((events) => turnsEnded(events) === index + 1)
      expect(existsSync(file)).toBe(isThere)
    }
    await close(throughline, id, live, board)
  })

  test('the first answer counts, the second is told which it was, and another hash is refused', async () => {
    const { throughline, id } = await begin({ text: '[[tool Bash {"command":"true"}]]' })
    const attention = await openOne(throughline, id)
    const allow: Resolution = { kind: 'allow', rules: [] }
    const answer = { id: attention.id, hash: attention.hash, resolution: allow }
    await expectError(throughline.live.resolve({ ...answer, hash: 'another' }), 'attention-mismatch')
    expect((await throughline.live.resolve(answer)).kind).toBe('won')
    const late = await throughline.live.resolve({ ...answer, resolution: { kind: 'deny' } })
    expect(late).toMatchObject({ kind: 'late', state: { state: 'resolved', resolution: allow } })
    await throughline.live.end(id)
    // Also when nobody is there any more who was asked.
    expect(await throughline.live.resolve({ ...answer, resolution: { kind: 'deny' } })).toEqual(late)
    await expectError(throughline.live.resolve({ ...answer, id: randomUUID() }), 'attention-not-found')
  })

  test('a question is answered from what it offers', async () => {
    const { throughline, id } = await begin()
    const live = await hearing(throughline, id)
    await throughline.live.prompt(id, say('[[ask Which one? | Red | Blue]]'))
    const attention = await openOne(throughline, id)
    expect(attention.ask).toMatchObject({ kind: 'question' })
    const resolution: Resolution = { kind: 'answer', answers: [['Blue']] }
    await throughline.live.resolve({ id: attention.id, hash: attention.hash, resolution })
    await live.until((events) => hasEnded(events))
    expect(JSON.stringify(messagesOf(live.events).at(-2))).toContain('Blue')
    await close(throughline, id, live)
  })

  test('an interrupted turn leaves the session, an ended session leaves the transcript', async () => {
    const { throughline, id } = await begin()
    const live = await hearing(throughline, id)
    await throughline.live.prompt(id, say('[[say begun]] [[hang]]'))
    await live.until((events) => deltasOf(events) === 'begun')
    await throughline.live.interrupt(id)
    await live.until((events) => hasEnded(events))
    expect(outcomeOf(live.events)).toBe('interrupted')
    expect((await throughline.live.view(id)).state.state).toBe('idle')
    await throughline.live.end(id)
    await live.until((events) => stateOf(events) === 'ended')
    await expectError(throughline.live.view(id), 'session-ended')
    await eventuallyStill(throughline, id)
    live.close()
  })

  test('a session goes on where it was, with all it knew; a fork leaves it as it is', async () => {
    const { throughline, id } = await begin({ text: '[[say the first thing]]' })
    const first = listen(throughline, { kind: 'session', id })
    await first.until((events) => idsOf(events).length >= 2)
    await throughline.live.end(id)
    const again = await throughline.live.resume(id)
    expect(again.sessionId).toBe(id)
    const live = await hearing(throughline, id)
    await throughline.live.prompt(id, say('[[recall]]'))
    await live.until((events) => hasEnded(events))
    expect(deltasOf(live.events)).toContain('the first thing')
    const before = idsOf(first.events).length
    const fork = await throughline.live.fork(id)
    expect(fork.sessionId).not.toBe(id)
    await throughline.live.end(fork.sessionId)
    expect(idsOf(first.events).slice(0, before)).toHaveLength(before)
    await close(throughline, id, live, first)
  })

  test('a new one after this one: this one is over, and the new one works in the same folder', async () => {
    const { throughline, id, workdir } = await begin()
    const next = await throughline.live.renew(id)
    expect(next.sessionId).not.toBe(id)
    expect(next.workdir).toBe(workdir)
    await expectError(throughline.live.prompt(id, say('hello?')), 'session-ended')
    await throughline.live.end(next.sessionId)
  })

  test('the mode is not widened by asking, and a folder that is not there is not worked in', async () => {
    const { throughline, id, workdir } = await begin()
    await expectError(throughline.live.setMode(id, 'bypass'), 'mode-not-allowed')
    await expectError(throughline.live.setMode(id, 'accept-edits'), 'mode-not-allowed')
    await throughline.live.setMode(id, 'plan')
    expect((await throughline.live.view(id)).mode).toBe('plan')
    await expectError(
      throughline.live.start({ agent: 'scripted', workdir, mode: 'bypass' }),
      'mode-not-allowed',
    )
    await expectError(
      throughline.live.start({ agent: 'scripted', workdir: join(workdir, 'none') }),
      'folder-not-found',
    )
    await expectError(throughline.live.start({ agent: 'nobody', workdir }), 'driver-unavailable')
    await throughline.live.end(id)
  })

  test('what a folder would load is shown, and trusted as it was shown', async () => {
    const { throughline, workdir, id } = await begin()
    await throughline.live.end(id)
    expect((await throughline.live.folder(workdir)).trust).toBe('nothing-to-load')
    await mkdir(join(workdir, '.claude'))
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: 'touch /tmp/never' }] }] }
    await writeFile(join(workdir, '.claude/settings.json'), JSON.stringify({ hooks }))
    const { trust, settings } = await throughline.live.folder(workdir)
    expect([trust, settings.effects[0]?.what]).toEqual(['unknown', 'touch /tmp/never'])
    const stale = throughline.live.trust(workdir, { hash: 'of something else', trusted: true })
    await expectError(stale, 'attention-mismatch')
    const { hash } = settings
    expect((await throughline.live.trust(workdir, { hash, trusted: true })).trust).toBe('trusted')
    await writeFile(join(workdir, '.claude/settings.json'), JSON.stringify({ hooks, model: 'other' }))
    expect((await throughline.live.folder(workdir)).trust).toBe('changed')
    expect((await throughline.live.trust(workdir, { hash, trusted: false })).trust).toBe('unknown')
  })

  test('what a session elsewhere asks is answered here, or not at all', async () => {
    const { throughline, place } = given()
    const board = listen(throughline, { kind: 'board' })
    const ask = {
      kind: 'permission',
      tool: 'Bash',
      input: { command: 'make' },
      workdir: '/home/user/work/shop',
      rules: [],
      canEdit: true,
    } as const
    const sessionId = place.shop.id
    const asked = throughline.live.ask({ sessionId, agent: 'claude', ask })
    const attention = await openOne(throughline, sessionId)
    await board.until((events) => waits(events, sessionId))
    const resolution: Resolution = { kind: 'allow', rules: [] }
    await throughline.live.resolve({ id: attention.id, hash: attention.hash, resolution })
    expect(await asked.answer).toEqual(resolution)
    const left = throughline.live.ask({ sessionId, agent: 'claude', ask })
    const second = await openOne(throughline, sessionId)
    left.withdraw()
    await left.answer.catch(() => {})
    await board.until(isTakenOff)
    const late = await throughline.live.resolve({ id: second.id, hash: second.hash, resolution })
    expect(late).toMatchObject({ kind: 'late', state: { state: 'lapsed', reason: 'withdrawn' } })
    board.close()
  })

  test('everything that was called and decided is on record, and the record is whole', async () => {
    const { throughline, id } = await begin({ text: '[[tool Bash {"command":"true"}]]' })
    const attention = await openOne(throughline, id)
    const resolution: Resolution = { kind: 'allow', rules: [] }
    await throughline.live.resolve({ id: attention.id, hash: attention.hash, resolution })
    const live = await hearing(throughline, id)
    await live.until((events) => events.some((event) => isIdle(event)))
    await throughline.live.end(id)
    const { entries, verdict } = await throughline.live.audit(id)
    expect(verdict).toMatchObject({ kind: 'whole' })
    expect(JSON.stringify(entries)).toContain(attention.id)
    expect((await throughline.live.audits()).map(({ sessionId }) => sessionId)).toContain(id)
    live.close()
  })
}
