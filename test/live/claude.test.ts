import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RemoteThroughline } from '#client'
import { textOf, type SessionSummary, type SessionView } from '#model'
import { toMarkdown } from '#render'
import { expectError } from '#testing'
import {
  answer,
  attentionOf,
  openLivePlace,
  say,
  shell,
  until,
  waitFor,
  type LivePlace,
  written,
} from './live-place.ts'

/** The real Claude Code in a real host of a real daemon, with two devices. Only the model is ours. */
describe('Claude Code, live', () => {
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
    return await laptop.live.start({ agent: 'claude', workdir: place.workdir, ...prompt })
  }

  async function entriesOf(id: string): Promise<readonly { readonly id: string; readonly text: string }[]> {
    const page = await phone.page(await phone.get(id), { limit: 1000 })
    return page.readings.flatMap((reading) => {
      if (reading.kind !== 'entry') return []
      const { entry } = reading
      // When it was typed, which is told again when it is delivered.
      if (entry.kind === 'prompt' && entry.queued === true) return []
      return entry.kind === 'prompt' || entry.kind === 'reply'
        ? [{ id: entry.id ?? '', text: textOf(entry.blocks) }]
        : []
    })
  }

  test('[RUN20] [A3.1] a session is begun on one device and seen on the other, with one id', async () => {
    const { sessionId } = await begin('[[say hello from the model]]')
    const view = await until(phone, sessionId, ({ turn }) => turn?.outcome !== undefined)
    expect(view.turn?.outcome?.kind).toBe('answered')
    expect((await phone.health()).sessions.live.map(({ id }) => id)).toContain(sessionId)
    const texts = await waitFor('the transcript has it', async () => {
      const found = (await entriesOf(sessionId)).map(({ text }) => text)
      return found.some((text) => text.includes('hello from the model')) ? found : undefined
    })
    expect(texts.filter((text) => text.includes('hello from the model'))).toHaveLength(2)
    await laptop.live.end(sessionId)
  })

  test('[RUN21] asked on one device, answered on the other: the tool runs, or does not', async () => {
    const { sessionId } = await begin()
    const rows = [
      ['allowed', { kind: 'allow', rules: [] }, true],
      ['denied', { kind: 'deny', words: 'please not' }, false],
    ] as const
    for (const [name, resolution, isThere] of rows) {
      const file = join(place.workdir, name)
      await laptop.live.prompt(sessionId, say(shell(`touch ${file}`)))
      const attention = await attentionOf(phone, sessionId)
      expect(attention.ask).toMatchObject({ kind: 'permission', tool: 'Bash', workdir: place.workdir })
      expect(existsSync(file)).toBe(false)
      expect(await answer(phone, attention, resolution)).toMatchObject({ kind: 'won' })
      await until(laptop, sessionId, ({ state }) => state.state === 'idle')
      expect(existsSync(file)).toBe(isThere)
    }
    await laptop.live.end(sessionId)
  })

  test('[RUN22] an edited input is what runs', async () => {
    const [asked, edited] = ['asked', 'edited'].map((name) => join(place.workdir, `edit-${name}`))
    const { sessionId } = await begin(shell(`touch ${asked}`))
    const attention = await attentionOf(phone, sessionId)
    const input = { command: `touch ${edited}` }
    await answer(phone, attention, { kind: 'allow', rules: [], input })
    await until(laptop, sessionId, ({ state }) => state.state === 'idle')
    expect([existsSync(asked ?? ''), existsSync(edited ?? '')]).toEqual([false, true])
    // Whoever looks on is told at once; what is written is marked wherever it is read, also by a fork.
    const changed = { toolUseId: attention.ask.toolUseId, input, by: expect.any(String) }
    expect((await laptop.live.view(sessionId)).changedCalls).toEqual([changed])
    await laptop.live.end(sessionId)
    const session = await written(laptop, sessionId)
    const calls = async (of: SessionSummary): Promise<readonly unknown[]> =>
      (await laptop.page(of, { limit: 100 })).readings.flatMap((reading) =>
        reading.kind === 'entry' && reading.entry.kind === 'reply'
          ? reading.entry.blocks.flatMap((block) => (block.kind === 'tool-use' ? [block.changed] : []))
          : [],
      )
    expect(await calls(session)).toEqual([{ input, by: expect.any(String) }])
    const transcript = { session, passages: laptop.passages(session) }
    let text = ''
    for await (const piece of toMarkdown(transcript)) text += piece
    expect(text).toContain(`<code>touch ${edited}</code> (changed from <code>touch ${asked}</code>)`)
    const { entries } = await laptop.live.audit(sessionId)
    expect(
      entries.filter(({ kind }) => kind === 'tool.called' || kind === 'attention.settled'),
    ).toMatchObject([
      { input: { input: { command: `touch ${asked}` } } },
      { settled: { end: 'allow', edited: { input } } },
    ])

    const fork = await laptop.live.fork(sessionId, { prompt: say('[[say forked]]') })
    await until(laptop, fork.sessionId, ({ turn }) => turn?.outcome !== undefined)
    expect(await calls(await written(laptop, fork.sessionId))).toEqual([{ input, by: expect.any(String) }])
    await laptop.live.end(fork.sessionId)
  })

  test('[RUN23] [FLT35] [A03] the daemon is killed with an attention open: it is answered after the restart, and the tool then runs', async () => {
    const file = join(place.workdir, 'after-restart')
    const { sessionId } = await begin(shell(`touch ${file}`))
    const before = await attentionOf(laptop, sessionId)
    await place.killDaemon()
    await place.startDaemon()
    const again = await place.connect()
    const attention = await attentionOf(again, sessionId)
    expect([attention.id, attention.hash]).toEqual([before.id, before.hash])
    expect(existsSync(file)).toBe(false)
    await answer(again, attention)
    await until(again, sessionId, ({ state }) => state.state === 'idle')
    expect(existsSync(file)).toBe(true)
    await again.live.end(sessionId)
    laptop = again
    phone = await place.connect()
  })

  test('[RUN24] [FLT32] agent or host killed with an attention open: it lapses within two seconds, nothing runs, nothing is left', async () => {
    for (const who of ['agent', 'host'] as const) {
      const file = join(place.workdir, `never-${who}`)
      const { sessionId, pid } = await begin(shell(`touch ${file}`))
      const attention = await attentionOf(phone, sessionId)
      const victims = who === 'host' ? [pid] : agentsOf(pid)
      expect(victims.length).toBeGreaterThan(0)
      for (const victim of victims) process.kill(victim, 'SIGKILL')
      const card = await waitFor('the board says that it is over', async () =>
        (await phone.live.board()).find(
          (each) => each.sessionId === sessionId && each.state.state === 'ended',
        ),
      )
      expect(card.attentions).toEqual([])
      expect(await answer(phone, attention)).toMatchObject({
        kind: 'late',
        state: { state: 'lapsed', reason: 'agent-gone' },
      })
      expect(existsSync(file)).toBe(false)
      await waitFor('nothing is left', () => (place.processes().length === 0 ? true : undefined))
    }
  })

  test('[RUN25] [A3.4] one device ends the session, and the other is told when it says something', async () => {
    const { sessionId } = await begin('[[say something]]')
    await until(phone, sessionId, ({ state }) => state.state === 'idle')
    await laptop.live.end(sessionId)
    const error = await expectError(phone.live.prompt(sessionId, say('still there?')), 'session-ended')
    expect(error.hint).toContain('Resume')
  })

  test('[RUN26] a session goes on after it ended, and knows what was said; a fork goes its own way', async () => {
    const { sessionId } = await begin('[[say remember the kumquat]]')
    await until(phone, sessionId, ({ turn }) => turn?.outcome !== undefined)
    await laptop.live.end(sessionId)
    await waitFor('it is in the list', async () => await phone.get(sessionId).catch(() => undefined))
    await phone.live.resume(sessionId, { prompt: say('[[recall]]') })
    await until(phone, sessionId, ({ turn }) => turn?.outcome !== undefined)
    const texts = (await entriesOf(sessionId)).map(({ text }) => text)
    expect(texts.at(-1)).toContain('kumquat')
    const fork = await phone.live.fork(sessionId, { prompt: say('[[recall]]') })
    expect(fork.sessionId).not.toBe(sessionId)
    await until(phone, fork.sessionId, ({ turn }) => turn?.outcome !== undefined)
    expect((await entriesOf(sessionId)).map(({ text }) => text)).toEqual(texts)
    await phone.live.end(sessionId)
    await phone.live.end(fork.sessionId)
  })

  test('[RUN27] [A01] a session that a terminal holds is refused with who holds it, forked, or taken over', async () => {
    const { sessionId } = await begin('[[say held]]')
    await until(phone, sessionId, ({ turn }) => turn?.outcome !== undefined)
    const [agent = 0] = agentsOf((await phone.live.view(sessionId)).pid)
    const registered = await waitFor('the agent is in its registry', () => findRegistered(place, sessionId))
    expect(registered.pid).toBe(agent)
    // A second daemon knows nothing of our hosts: to it this is somebody else's.
    const other = await openLivePlace()
    try {
      execFileSync('cp', ['-r', `${place.claudeDir}/.`, other.claudeDir])
      const client = await other.connect()
      await waitFor('it is in the list', async () => await client.get(sessionId).catch(() => undefined))
      const error = await expectError(client.live.resume(sessionId), 'session-held')
      expect(error.message).toContain(String(agent))
      await client.live.resume(sessionId, { takeOver: true, workdir: place.workdir })
      await waitFor('the first one is over', async () =>
        (await phone.live.board()).find(
          (each) => each.sessionId === sessionId && each.state.state === 'ended',
        ),
      )
      await client.live.end(sessionId)
    } finally {
      await other.close()
    }
  })

  test('[RUN28] [FLT38] a model that fails is told as it is, and the session goes on', async () => {
    const { sessionId } = await begin()
    const rows = [
      ['[[fail 529]]', 529],
      ['[[fail 429]]', 429],
      ['[[fail 401]]', 401],
      ['[[say half]] [[cut]]', undefined],
    ] as const
    for (const [text, status] of rows) {
      const before = (await phone.live.view(sessionId)).turn?.startedAt
      await laptop.live.prompt(sessionId, say(text))
      const view = await until(
        phone,
        sessionId,
        ({ turn }) => turn?.outcome !== undefined && turn.startedAt !== before,
      )
      expect(view.turn?.outcome).toMatchObject({ kind: 'failed', ...(status && { status }) })
      expect((await phone.live.board()).find((card) => card.sessionId === sessionId)).toMatchObject({
        lastTurn: 'failed',
        trouble: expect.any(String),
      })
    }
    await laptop.live.prompt(sessionId, say('[[say well again]]'))
    const view = await until(
      phone,
      sessionId,
      ({ turn, state }) => turn?.outcome?.kind === 'answered' && state.state === 'idle',
    )
    expect(view.state.state).toBe('idle')
    await laptop.live.end(sessionId)
  })

  test('[RUN29] [C7.1] what was streamed and what is on disk have the same ids, each once', async () => {
    const { sessionId } = await begin()
    const prompt = {
      ...say(`[[say first]] ${shell(`touch ${join(place.workdir, 'twice')}`)} [[say second]]`),
      id: randomUUID(),
    }
    await laptop.live.prompt(sessionId, prompt)
    await answer(phone, await attentionOf(phone, sessionId))
    const view = await until(phone, sessionId, ({ turn }) => turn?.outcome !== undefined)
    const told = (view.turn?.messages ?? []).flatMap(({ id }) => (id === undefined ? [] : [id]))
    expect(told).toContain(prompt.id)
    const onDisk = await waitFor('all of it is on disk', async () => {
      const page = await phone.page(await phone.get(sessionId), { limit: 1000 })
      const ids = page.readings.flatMap((each) => (each.kind === 'entry' ? [each.entry.id ?? ''] : []))
      return told.every((id) => ids.includes(id)) ? ids : undefined
    })
    expect(told.map((id) => onDisk.filter((each) => each === id).length)).toEqual(told.map(() => 1))
    await laptop.live.end(sessionId)
  })

  test('[RUN30] [ATT42] no call of a device makes a session that asks nobody', async () => {
    const { sessionId } = await begin()
    await expectError(laptop.live.setMode(sessionId, 'bypass'), 'mode-not-allowed')
    await laptop.live.end(sessionId)
    const started = laptop.live.start({ agent: 'claude', workdir: place.workdir, mode: 'bypass' })
    await expectError(started, 'mode-not-allowed')
    await expectError(laptop.live.resume(sessionId, { mode: 'bypass' }), 'mode-not-allowed')
  })
})

/** The processes of the agent under a host. */
function agentsOf(host: number): readonly number[] {
  const children = readFileSync(`/proc/${host}/task/${host}/children`, 'utf8').trim()
  return children === '' ? [] : children.split(' ').map(Number)
}

function findRegistered(place: LivePlace, sessionId: string): { readonly pid: number } | undefined {
  const folder = join(place.claudeDir, 'sessions')
  if (!existsSync(folder)) return undefined
  const found = execFileSync('grep', ['-rl', sessionId, folder], { encoding: 'utf8' }).trim()
  const [, pid] = /(\d+)\.json/.exec(found) ?? []
  return pid === undefined ? undefined : { pid: Number(pid) }
}
