import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { string } from '#base'
import type { RemoteThroughline } from '#client'
import type { Attention, Resolution, SessionView } from '#model'
import { expectError, runs } from '#testing'
import {
  answer,
  attentionOf,
  openLivePlace,
  say,
  shell,
  until,
  waitFor,
  type LivePlace,
} from './live-place.ts'

const ALLOW: Resolution = { kind: 'allow', rules: [] }
const DENY: Resolution = { kind: 'deny' }

/** The scripted agent in real hosts of a real daemon, with two devices that do not agree. */
describe('answers of several devices', () => {
  let place: LivePlace
  let laptop: RemoteThroughline
  let phone: RemoteThroughline

  beforeAll(async () => {
    place = await openLivePlace()
    laptop = await place.connect()
    phone = await place.connect()
  })
  afterAll(async () => await place?.close())

  async function begin(text?: string): Promise<SessionView> {
    const prompt = text === undefined ? {} : { prompt: say(text) }
    return await laptop.live.start({ agent: 'scripted', workdir: place.workdir, ...prompt })
  }

  async function idle(id: string): Promise<void> {
    await until(phone, id, ({ state, turn }) => state.state === 'idle' && turn?.outcome !== undefined)
  }

  test('[ATT39] [A05] two answer at once: one wins, both are told the same, and the record has one decision', async () => {
    const { sessionId } = await begin()
    const rounds = runs(100).numRuns
    for (let round = 0; round < rounds; round++) {
      const file = join(place.workdir, `race-${round}`)
      await laptop.live.prompt(sessionId, say(shell(`touch ${file}`)))
      const attention = await attentionOf(phone, sessionId)
      const outcomes = await Promise.all([
        answer(laptop, attention, round % 2 === 0 ? ALLOW : DENY),
        answer(phone, attention, round % 2 === 0 ? DENY : ALLOW),
      ])
      expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['late', 'won'])
      expect(outcomes[0]?.state).toEqual(outcomes[1]?.state)
      await idle(sessionId)
      const { state } = outcomes[0]
      expect(existsSync(file)).toBe(state.state === 'resolved' && state.resolution.kind === 'allow')
    }
    await laptop.live.end(sessionId)
    const { entries, verdict } = await phone.live.audit(sessionId)
    expect(verdict.kind).toBe('whole')
    const decisions = entries.filter((line) => string(line, 'kind') === 'attention.settled')
    expect(decisions).toHaveLength(rounds)
  })

  test('[ATT36] an answer to one attention settles no other: of this session, of another, again, or late', async () => {
    const first = await begin(shell(`touch ${join(place.workdir, 'first')}`))
    const second = await begin(shell(`touch ${join(place.workdir, 'second')}`))
    const [one, two] = [
      await attentionOf(laptop, first.sessionId),
      await attentionOf(laptop, second.sessionId),
    ]
    // The id of one with what was shown of the other.
    for (const crossed of [
      { ...one, hash: two.hash },
      { ...two, hash: one.hash },
    ] satisfies Attention[]) {
      await expectError(answer(phone, crossed), 'attention-mismatch')
    }
    await answer(phone, one)
    await idle(first.sessionId)
    // The same tool with the same input again is another attention: the old answer says nothing about it.
    await laptop.live.prompt(first.sessionId, say(shell(`touch ${join(place.workdir, 'first')}`)))
    const again = await attentionOf(laptop, first.sessionId)
    expect(again.id).not.toBe(one.id)
    expect(await answer(phone, one)).toMatchObject({ kind: 'won' })
    expect((await laptop.live.view(first.sessionId)).state.state).toBe('waiting')
    expect(existsSync(join(place.workdir, 'second'))).toBe(false)
    await laptop.live.end(second.sessionId)
    expect(await answer(phone, two)).toMatchObject({ kind: 'late', state: { state: 'lapsed' } })
    expect(existsSync(join(place.workdir, 'second'))).toBe(false)
    await laptop.live.end(first.sessionId)
  })

  test('[LVS7] an allowance does not hold for another folder under the same path, nor after the mode was narrowed', async () => {
    const folder = join(place.root, 'asked-in')
    const other = join(place.root, 'other')
    mkdirSync(folder)
    mkdirSync(other)
    const start = { agent: 'scripted', workdir: folder, prompt: say(shell('touch ran')) }
    const { sessionId } = await laptop.live.start(start)
    const shown = await attentionOf(phone, sessionId)
    renameSync(folder, `${folder}.old`)
    symlinkSync(other, folder)
    await expectError(answer(phone, shown), 'attention-changed')
    const again = await attentionOf(laptop, sessionId)
    expect(again.id).not.toBe(shown.id)
    expect(again.hash).not.toBe(shown.hash)
    expect(again.ask).toMatchObject({ changed: 'the folder was replaced or points to another place now' })
    await laptop.live.setMode(sessionId, 'plan')
    await expectError(answer(laptop, again), 'attention-changed')
    const third = await attentionOf(phone, sessionId)
    expect(third.ask).toMatchObject({ changed: 'the mode changed from default to plan' })
    expect([existsSync(join(other, 'ran')), existsSync(`${folder}.old/ran`)]).toEqual([false, false])
    // Whoever comes late with the first answer is told what became of it.
    const late = { kind: 'late', state: { state: 'lapsed', reason: 'changed' } }
    expect(await answer(phone, shown)).toMatchObject(late)
    await answer(phone, third, DENY)
    await idle(sessionId)
    expect(existsSync(join(other, 'ran'))).toBe(false)
    await laptop.live.end(sessionId)
    const { entries } = await phone.live.audit(sessionId)
    const ends = entries.flatMap((line) => (line.kind === 'attention.settled' ? [line.settled] : []))
    expect(ends.map(({ end }) => end)).toEqual(['lapsed', 'lapsed', 'deny'])
  })

  test('[A06] an answer whose acknowledgement was lost is sent again, and has won', async () => {
    const { sessionId } = await begin(shell('touch acknowledged'))
    const attention = await attentionOf(phone, sessionId)
    const outcomes = [await answer(phone, attention), await answer(phone, attention)]
    expect(outcomes.map(({ kind }) => kind)).toEqual(['won', 'won'])
    await idle(sessionId)
    await laptop.live.end(sessionId)
  })

  test('[A07] [A09] the mode stays with the session under its id, also after a resume on another device', async () => {
    const { sessionId } = await begin('[[say something to keep]]')
    await idle(sessionId)
    await phone.live.setMode(sessionId, 'plan')
    expect((await laptop.live.view(sessionId)).mode).toBe('plan')
    await laptop.live.end(sessionId)
    const again = await phone.live.resume(sessionId)
    expect([again.sessionId, again.mode]).toEqual([sessionId, 'plan'])
    await phone.live.end(sessionId)
    await expectError(phone.live.resume(sessionId, { mode: 'accept-edits' }), 'mode-not-allowed')
  })

  test('[A11] running, waiting and done are told apart, and those that wait are counted', async () => {
    const running = await begin('[[hang]]')
    const waiting = await begin(shell('touch counted'))
    const done = await begin('[[say done]]')
    await attentionOf(phone, waiting.sessionId)
    await idle(done.sessionId)
    await until(phone, running.sessionId, ({ state }) => state.state === 'running')
    const states = new Map((await phone.live.board()).map((card) => [card.sessionId, card.state.state]))
    expect([running, waiting, done].map(({ sessionId }) => states.get(sessionId))).toEqual([
      'running',
      'waiting',
      'idle',
    ])
    const { sessions } = await phone.health()
    expect(sessions.waitingForYou).toBe(1)
    const status = (id: string): string | undefined =>
      sessions.live.find((each) => each.id === id)?.live.status
    expect([running, waiting, done].map(({ sessionId }) => status(sessionId))).toEqual([
      'busy',
      'waiting',
      'idle',
    ])
    for (const { sessionId } of [running, waiting, done]) await laptop.live.end(sessionId)
  })

  test('[A12] sessions are begun and ended again and again, and no process is left', async () => {
    for (let round = 0; round < runs(6).numRuns; round++) {
      const { sessionId } = await begin(round % 2 === 0 ? shell('sleep 60') : '[[hang]]')
      if (round % 2 === 0) await answer(phone, await attentionOf(phone, sessionId))
      await laptop.live.end(sessionId)
    }
    await waitFor('nothing is left', () => (place.processes().length === 0 ? true : undefined))
  })

  test('[A10] a prompt is kept until it is acknowledged, and shown when nobody took it', async () => {
    const { sessionId, pid } = await begin('[[hang]]')
    await until(phone, sessionId, ({ state }) => state.state === 'running')
    const prompt = say('[[say do not forget me]]')
    await phone.live.prompt(sessionId, prompt)
    process.kill(pid, 'SIGKILL')
    await waitFor('it is over', async () =>
      (await phone.live.board()).find((card) => card.sessionId === sessionId && card.state.state === 'ended'),
    )
    const again = await phone.live.resume(sessionId)
    const kept = again.prompts.find(({ id }) => id === prompt.id)
    // Whatever became of it: it is in the transcript, or it is shown.
    const page = await phone.page(await phone.get(sessionId), { limit: 100 })
    const isWritten = page.readings.some((each) => each.kind === 'entry' && each.entry.id === prompt.id)
    expect(isWritten || kept !== undefined).toBe(true)
    await phone.live.end(sessionId)
  })
})

describe('sessions that nobody uses', () => {
  test('[A3.5] an idle session ends by itself and can be gone on with; a running turn and an open attention are not idle', async () => {
    const place = await openLivePlace({ live: { idleMinutes: 0.02 } })
    try {
      const device = await place.connect()
      const start = (text: string): Promise<SessionView> =>
        device.live.start({ agent: 'scripted', workdir: place.workdir, prompt: say(text) })
      const waiting = await start(shell('touch never'))
      const running = await start('[[hang]]')
      const idle = await start('[[say remember me]]')
      await attentionOf(device, waiting.sessionId)
      const card = await waitFor('it is over', async () =>
        (await device.live.board()).find(
          (each) => each.sessionId === idle.sessionId && each.state.state === 'ended',
        ),
      )
      expect(card.state).toMatchObject({ state: 'ended', reason: 'idle' })
      const states = [waiting, running].map(
        async ({ sessionId }) => (await device.live.view(sessionId)).state,
      )
      expect(await Promise.all(states)).toEqual([{ state: 'waiting' }, { state: 'running' }])
      await device.live.resume(idle.sessionId, { prompt: say('[[recall]]') })
      await waitFor('it knows what was said', async () => {
        const page = await device.page(await device.get(idle.sessionId), { limit: 50 })
        return JSON.stringify(page.readings).includes('Earlier: [[say remember me]]') ? true : undefined
      })
    } finally {
      await place.close()
    }
  })
})
