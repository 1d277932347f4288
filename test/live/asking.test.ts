import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isObject } from '#base'
import type { RemoteThroughline } from '#client'
import type { NativeAgent, PermissionMode, ResultEntry } from '#model'
import { followCues } from '#testing'
import { AGENTS_HERE, hasOpencode } from '../opencode-program.ts'
import {
  answer,
  attentionOf,
  openLivePlace,
  say,
  shell,
  until,
  waitFor,
  written,
  type LivePlace,
} from './live-place.ts'

/** What every agent is told to do by its model: each of these has to be asked about, and what it would leave behind. */
function toTries(agent: NativeAgent, workdir: string, url: string): Readonly<Record<string, string>> {
  const tool = (name: string, input: object): string => `[[tool ${name} ${JSON.stringify(input)}]]`
  const path = (name: string): string => join(workdir, name)
  const tries = {
    shell: shell(`touch ${path('made-by-a-shell')}`),
    write: tool('Write', { file_path: path('made-by-a-write'), content: 'x' }),
  }
  switch (agent) {
    case 'claude':
      return {
        ...tries,
        edit: `${tool('Read', { file_path: path('kept') })} ${tool('Edit', { file_path: path('kept'), old_string: 'as it was', new_string: 'changed' })}`,
        fetch: tool('WebFetch', { url, prompt: 'read it' }),
      }
    case 'codex':
      return { ...tries, fetch: shell(`curl -s ${url}`) }
    case 'gemini':
      return {
        ...tries,
        edit: tool('replace', {
          file_path: path('kept'),
          old_string: 'as it was',
          new_string: 'changed',
          instruction: 'change it',
        }),
        fetch: tool('web_fetch', { prompt: `read ${url}` }),
      }
    case 'opencode':
      return {
        ...tries,
        edit: tool('edit', { filePath: path('kept'), oldString: 'as it was', newString: 'changed' }),
        fetch: tool('webfetch', { url, format: 'text' }),
      }
  }
}

function hasFailed({ blocks }: ResultEntry): boolean {
  return blocks.some((block) => block.kind === 'tool-result' && block.isError)
}

/**
 * Every real agent in the configuration that it is installed with; only the model is ours. What a model wants to change,
 * run or fetch waits for a person.
 */
describe('an agent as it is installed', () => {
  let place: LivePlace
  let device: RemoteThroughline
  let server: Server
  let url: string
  let fetched = 0

  beforeAll(async () => {
    place = await openLivePlace()
    device = await place.connect()
    server = createServer((_, response) => {
      fetched += 1
      response.end('fetched')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    url = `http://127.0.0.1:${typeof address === 'object' ? String(address?.port) : ''}/`
  })
  afterAll(async () => {
    server.close()
    await place?.close()
  })

  /** Nothing of what was tried has happened. */
  function expectNothing(what: string): void {
    const made = ['made-by-a-shell', 'made-by-a-write'].filter((name) =>
      existsSync(join(place.workdir, name)),
    )
    expect({ what, made, fetched, kept: readFileSync(join(place.workdir, 'kept'), 'utf8') }).toEqual({
      what,
      made: [],
      fetched: 0,
      kept: 'as it was\n',
    })
  }

  async function begin(agent: NativeAgent, mode: PermissionMode): Promise<string> {
    writeFileSync(join(place.workdir, 'kept'), 'as it was\n')
    const prompt = say('[[say ready]]')
    const { sessionId } = await device.live.start({ agent, workdir: place.workdir, mode, prompt })
    await until(device, sessionId, ({ turn }) => turn?.outcome !== undefined)
    return sessionId
  }

  /** Says it, and says no to everything that is asked. Gives what was asked for. */
  async function sayNo(sessionId: string, text: string): Promise<readonly string[]> {
    const asked: string[] = []
    const prompt = say(text)
    await device.live.prompt(sessionId, prompt)
    for (;;) {
      const view = await until(
        device,
        sessionId,
        ({ attentions, turn }) =>
          attentions.length > 0 || (turn?.promptId === prompt.id && turn.outcome !== undefined),
      )
      const [attention] = view.attentions
      if (attention === undefined) return asked
      expectNothing(text)
      if (attention.ask.kind === 'permission') asked.push(attention.ask.tool)
      await answer(device, attention, { kind: 'deny' })
      await until(device, sessionId, ({ attentions }) => !attentions.some(({ id }) => id === attention.id))
    }
  }

  test.each(AGENTS_HERE)(
    '[LVS31] [AUD7] [READ10] %s asks before it changes, runs or fetches anything',
    async (agent) => {
      const sessionId = await begin(agent, 'default')
      const tries = Object.entries(toTries(agent, place.workdir, url))
      for (const [what, text] of tries) {
        const asked = await sayNo(sessionId, text)
        expectNothing(what)
        expect({ what, asked: asked.length }).toEqual({ what, asked: 1 })
      }
      // Codex runs in a sandbox what does not say that it needs more.
      if (agent === 'codex') {
        await sayNo(sessionId, '[[tool exec_command {"cmd":"touch made-by-a-shell"}]]')
        expectNothing('a command in the sandbox')
      }

      const allowed = `allowed-${agent}`
      await device.live.prompt(sessionId, say(shell(`touch ${allowed}`)))
      const attention = await attentionOf(device, sessionId)
      await answer(device, attention)
      await until(device, sessionId, ({ state }) => state.state === 'idle')
      expect(existsSync(join(place.workdir, allowed))).toBe(true)
      await device.live.end(sessionId)
      await expectOnRecord(sessionId, { attentionId: attention.id, command: `touch ${allowed}` })
      // What a person denied has not failed.
      expect(await denialsIn(sessionId)).toEqual(tries.map(() => 'user-rejected'))
    },
  )

  /** Why each call of a session that brought an error was not allowed. */
  async function denialsIn(sessionId: string): Promise<readonly (string | undefined)[]> {
    const page = await device.page(await written(device, sessionId), { limit: 200 })
    return page.readings.flatMap((reading) =>
      reading.kind === 'entry' && reading.entry.kind === 'result' && hasFailed(reading.entry)
        ? [reading.entry.decision?.denial]
        : [],
    )
  }

  /** What ran is in the audit log, as what was asked about, and on the session's page. */
  async function expectOnRecord(
    sessionId: string,
    { attentionId, command }: { readonly attentionId: string; readonly command: string },
  ): Promise<void> {
    const { entries, verdict } = await device.live.audit(sessionId)
    expect(verdict.kind).toBe('whole')
    const asked = entries.flatMap((entry) =>
      entry.kind === 'attention.opened' && entry.id === attentionId ? [entry.asked] : [],
    )
    const called = entries.flatMap((entry) =>
      entry.kind === 'tool.called' && entry.toolUseId === asked[0]?.toolUseId ? [entry] : [],
    )
    expect(JSON.stringify(called[0]?.input.input)).toContain(command)
    expect(called[0]?.input.hash).toBe(asked[0]?.inputHash)
    const page = await device.page(await written(device, sessionId), { limit: 200 })
    const calls = page.readings.flatMap((reading) =>
      reading.kind === 'entry' && reading.entry.kind === 'reply' ? reading.entry.blocks : [],
    )
    expect(JSON.stringify(calls.filter(({ kind }) => kind === 'tool-use'))).toContain(command)
  }

  test.each(AGENTS_HERE)('[LVS31] %s changes nothing in the mode plan', async (agent) => {
    const sessionId = await begin(agent, 'plan')
    for (const [what, text] of Object.entries(toTries(agent, place.workdir, url))) {
      await sayNo(sessionId, text)
      expectNothing(what)
    }
    await device.live.end(sessionId)
  })

  test.each(AGENTS_HERE)(
    '[LVS31] %s changes files without asking in the mode accept-edits, and asks to run',
    async (agent) => {
      const path = join(place.workdir, `edited-by-${agent}`)
      const sessionId = await begin(agent, 'accept-edits')
      await device.live.prompt(
        sessionId,
        say(`[[tool Write ${JSON.stringify({ file_path: path, content: 'x' })}]]`),
      )
      await waitFor('the file is there', () => (existsSync(path) ? true : undefined))
      await until(device, sessionId, ({ state }) => state.state === 'idle')
      expect(await sayNo(sessionId, shell(`touch ${join(place.root, 'made-outside')}`))).toHaveLength(1)
      expect(existsSync(join(place.root, 'made-outside'))).toBe(false)
      await device.live.end(sessionId)
    },
  )

  test.runIf(hasOpencode)(
    '[LVS31] opencode asks whatever its configuration allows for all, and keeps what that denies and allows by name',
    async () => {
      const path = join(place.root, 'xdg/config/opencode/opencode.json')
      const before = readFileSync(path, 'utf8')
      const given: unknown = JSON.parse(before)
      const bash = { '*': 'allow', 'touch allowed-by-name': 'allow', 'touch denied-by-name': 'deny' }
      const permission = { '*': 'allow', edit: 'allow', bash }
      const changed = JSON.stringify({ ...(isObject(given) ? given : {}), permission })
      writeFileSync(path, changed)
      try {
        const sessionId = await begin('opencode', 'default')
        expect(await sayNo(sessionId, shell('touch made-by-a-shell'))).toEqual(['bash'])
        expect(await sayNo(sessionId, toTries('opencode', place.workdir, url)['write'] ?? '')).toHaveLength(1)
        expect(await sayNo(sessionId, shell('touch denied-by-name'))).toEqual([])
        expect(await sayNo(sessionId, shell('touch allowed-by-name'))).toEqual([])
        expect(existsSync(join(place.workdir, 'denied-by-name'))).toBe(false)
        expect(existsSync(join(place.workdir, 'allowed-by-name'))).toBe(true)
        await device.live.end(sessionId)
        expect(readFileSync(path, 'utf8')).toBe(changed)
      } finally {
        writeFileSync(path, before)
      }
    },
  )

  test.runIf(hasOpencode)('[LVS31] opencode that cannot be made to ask is not run', async () => {
    const path = join(place.root, 'xdg/config/opencode/opencode.json')
    const before = readFileSync(path, 'utf8')
    writeFileSync(path, '{ "permission": ')
    try {
      const { sessionId } = await device.live.start({ agent: 'opencode', workdir: place.workdir })
      const { state } = await waitFor('it has ended', async () =>
        (await device.live.board()).find(
          (card) => card.sessionId === sessionId && card.state.state === 'ended',
        ),
      )
      expect(state).toMatchObject({
        reason: 'start-failed',
        message: expect.stringContaining('cannot be made to ask'),
        hint: expect.stringContaining('opencode debug config'),
      })
    } finally {
      writeFileSync(path, before)
    }
  })
})

test.runIf(hasOpencode)(
  '[DRV61] a subagent of opencode runs nothing, and does not wait for an answer',
  async () => {
    const place = await openLivePlace({}, (request) => {
      const isSubagent = JSON.stringify(request.body['messages']).includes(':"THE-SUBTASK"')
      const isTold = JSON.stringify(request.body['messages']).includes('"tool_calls"')
      if (!isSubagent) return followCues(request)
      return isTold
        ? [{ kind: 'text', text: 'It cannot be done here.' }]
        : [{ kind: 'tool', name: 'Bash', input: { command: 'touch made-by-a-subagent' } }]
    })
    try {
      const device = await place.connect()
      const task = { description: 'try', prompt: 'THE-SUBTASK', subagent_type: 'general' }
      const { sessionId } = await device.live.start({
        agent: 'opencode',
        workdir: place.workdir,
        prompt: say(`[[tool task ${JSON.stringify(task)}]] [[say back]]`),
      })
      const { turn } = await until(device, sessionId, (view) => view.turn?.outcome !== undefined)
      expect(turn?.outcome?.kind).toBe('answered')
      expect(existsSync(join(place.workdir, 'made-by-a-subagent'))).toBe(false)
    } finally {
      await place.close()
    }
  },
)
