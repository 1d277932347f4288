import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { field, list, string } from '#base'
import type { StartOptions } from '#drivers'
import { inTurns, play, resultsIn, saidIn, type ModelScript, type Played } from '#testing'
import { openCodexPlace, type CodexPlace } from './drivers-acp-place.ts'

type Begin = (options?: Partial<StartOptions>) => Promise<Played>

async function withCodex(
  use: (place: CodexPlace, begin: Begin) => Promise<void>,
  script?: ModelScript,
): Promise<void> {
  const place = await openCodexPlace(script)
  const all: Played[] = []
  try {
    await use(place, async (options) => {
      const played = await play(place, options)
      all.push(played)
      return played
    })
  } finally {
    for (const played of all) await played.agent.close()
    await place.close()
  }
}

test('[DRV37] Codex runs against the scripted model, on loopback and without an account', () =>
  withCodex(
    async (place, begin) => {
      const played = await begin()
      expect(await played.say('hello')).toMatchObject({
        kind: 'answered',
        usage: { input: 212, cacheRead: 1000 },
      })
      expect(saidIn(played.facts)).toBe('Here I am.')
      const asked = place.api.requests.filter(({ purpose }) => purpose === 'conversation')
      expect(asked).toHaveLength(1)
      expect(asked[0]).toMatchObject({ path: '/v1/responses', sessionId: played.agentId() })
      expect(asked[0]?.headers['authorization']).toBe('Bearer dummy-for-loopback')
      expect(played.facts.find((fact) => fact.kind === 'started')).toMatchObject({
        model: 'gpt-5.5',
        can: { resume: true, fork: true, images: true, editInput: false },
      })
    },
    inTurns([{ kind: 'text', text: 'Here I am.' }]),
  ))

test('[DRV9] [DRV48] a command of Codex runs for real after it was allowed, and its words come back', () =>
  withCodex(async (place, begin) => {
    const played = await begin()
    const turn = played.say(
      '[[tool Bash {"command":"echo made > made.txt; echo words; exit 3"}]] [[say over]]',
    )
    const { ask, answer } = await played.nextAsk()
    expect(ask).toMatchObject({ kind: 'permission', tool: 'execute', canEdit: false })
    expect(existsSync(join(place.workdir, 'made.txt'))).toBe(false)
    answer({ kind: 'allow', rules: [] })
    expect(await turn).toMatchObject({ kind: 'answered' })
    expect(readFileSync(join(place.workdir, 'made.txt'), 'utf8')).toBe('made\n')
    expect(resultsIn(played.facts).join()).toContain('words')
    expect(played.facts.find((fact) => fact.kind === 'message' && fact.role === 'tool')).toMatchObject({
      blocks: [{ isError: true }],
    })
  }))

test('[DRV8] [DRV50] a change of files is shown as what it would change, and does not happen when it is denied', () =>
  withCodex(async (place, begin) => {
    const played = await begin()
    const path = join(place.workdir, 'made.txt')
    const turn = played.say(`[[tool Write ${JSON.stringify({ file_path: path, content: 'hello' })}]]`)
    const { ask, answer } = await played.nextAsk()
    expect(ask).toMatchObject({ tool: 'edit', input: { changes: [{ path, newText: 'hello\n' }] } })
    answer({ kind: 'deny' })
    expect(await turn).toEqual({ kind: 'interrupted' })
    expect(existsSync(path)).toBe(false)
  }))

test('[DRV52] Codex, which would let a model decide, asks a person; also when it goes on with a session', () =>
  withCodex(async (place, begin) => {
    const first = await begin()
    await first.say('[[say one]]')
    await first.agent.close()
    const again = await begin({ resume: { sessionId: first.agentId() } })
    const turn = again.say('[[tool Bash {"command":"touch ran"}]]')
    ;(await again.nextAsk()).answer({ kind: 'deny' })
    await turn
    expect(existsSync(join(place.workdir, 'ran'))).toBe(false)
  }))

test('[DRV52] Codex plans in the sandbox in which it asks: planning is an option beside its modes', () =>
  withCodex(async (place, begin) => {
    const played = await begin({ mode: 'plan' })
    await played.say('[[tool exec_command {"cmd":"touch ran"}]]')
    expect(existsSync(join(place.workdir, 'ran'))).toBe(false)
    expect(lastAsked(place)).toContain('<collaboration_mode># Plan Mode')
    await played.agent.setMode('default')
    await played.say('[[say on]]')
    expect(lastAsked(place)).toContain('<collaboration_mode># Collaboration Mode: Default')
    expect(played.facts.filter(({ kind }) => kind === 'mode.changed')).toEqual([
      { kind: 'mode.changed', mode: 'default' },
    ])
  }))

function lastAsked({ api }: CodexPlace): string {
  return JSON.stringify(api.requests.findLast(({ purpose }) => purpose === 'conversation')?.body)
}

test('[DRV52] only a session that was started so asks nobody', () =>
  withCodex(async (place, begin) => {
    const played = await begin({ mode: 'bypass' })
    expect(await played.say('[[tool exec_command {"cmd":"touch ran"}]]')).toMatchObject({ kind: 'answered' })
    expect(played.openAsks()).toEqual([])
    expect(existsSync(join(place.workdir, 'ran'))).toBe(true)
  }))

test('[DRV42] [DRV51] Codex without an account says how to log in; a session that is not there is not found', () =>
  withCodex(async (place, begin) => {
    await expect(
      begin({ resume: { sessionId: '01a1e2b2-0000-7000-8000-000000000000' } }),
    ).rejects.toMatchObject({ code: 'session-not-found' })
    rmSync(join(place.home, 'config.toml'))
    await expect(begin()).rejects.toMatchObject({
      code: 'not-logged-in',
      hint: expect.stringContaining('codex login'),
    })
  }))

test('[DRV18] [DRV59] that Codex tries again is told, and the status of what failed', () =>
  withCodex(async (place, begin) => {
    const played = await begin()
    expect(await played.say('[[fail 429]]')).toMatchObject({ kind: 'failed', status: 429, retry: true })
    expect(await played.heard('retrying')).toMatchObject({ status: 429, attempt: 1, attempts: 1 })
    expect(saidIn(played.facts)).toBe('')
  }))

test('[DRV45] [DRV46] images reach the model, and the model that was chosen answers', () =>
  withCodex(async (place, begin) => {
    const played = await begin({ model: 'gpt-6-sol' })
    const data =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    await played.agent.prompt({
      id: 'image',
      blocks: [
        { kind: 'text', text: '[[say seen]]' },
        { kind: 'image', source: { kind: 'base64', mediaType: 'image/png', data } },
      ],
    })
    await played.heard('turn.ended')
    const [request] = place.api.requests.filter(({ purpose }) => purpose === 'conversation')
    expect(string(request?.body, 'model')).toBe('gpt-6-sol')
    const content = list(request?.body, 'input').flatMap((item) => list(item, 'content'))
    expect(content.some((part) => string(part, 'type') === 'input_image')).toBe(true)
    await played.agent.setModel('gpt-5.5')
    await played.say('[[say again]]')
    expect(field(place.api.requests.at(-1)?.body, 'model')).toBe('gpt-5.5')
    expect(played.facts.findLast((fact) => fact.kind === 'started')).toMatchObject({ model: 'gpt-5.5' })
  }))

test('[DRV56] the adapter of Codex trusts every folder, which is why the folder must be trusted here', () =>
  withCodex(async (place, begin) => {
    mkdirSync(join(place.workdir, '.codex'))
    writeFileSync(
      join(place.workdir, '.codex', 'config.toml'),
      `[mcp_servers.trap]\ncommand = "touch"\nargs = ["${join(place.root, 'acted')}"]\n`,
    )
    await expect(begin({ trusted: false })).rejects.toMatchObject({ code: 'folder-untrusted' })
    expect(existsSync(join(place.root, 'acted'))).toBe(false)
    const played = await begin()
    await played.say('[[say one]]')
    expect(existsSync(join(place.root, 'acted'))).toBe(true)
  }))
