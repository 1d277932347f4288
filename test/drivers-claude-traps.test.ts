import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { list, ThroughlineError } from '#base'
import { createClaudeDriver, type StartOptions } from '#drivers'
import { play, resultsIn, saidIn, type Played } from '#testing'
import { CLAUDE, openClaudePlace, type ClaudePlace } from './drivers-claude-place.ts'

let place: ClaudePlace
let played: Played[]

beforeEach(async () => {
  place = await openClaudePlace()
  played = []
})

afterEach(async () => {
  for (const one of played) await one.agent.close()
  await place.close()
})

async function begin(options: Partial<StartOptions> = {}): Promise<Played> {
  const one = await play(place, options)
  played.push(one)
  return one
}

async function refusal(
  options: Partial<StartOptions>,
  executable: string = CLAUDE,
): Promise<ThroughlineError> {
  const driver = createClaudeDriver({ executable })
  const error: unknown = await play({ ...place, driver }, options).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ThroughlineError)) throw new Error(`not refused: ${String(error)}`)
  expect(error.hint).not.toBe('')
  return error
}

test('[DRV40] [ATT40] nothing that lies in a folder acts before a person trusted it', async () => {
  const { workdir } = place
  const touched = join(place.root, 'touched')
  mkdirSync(touched)
  const script = (name: string): string => {
    const path = join(place.root, `${name}.sh`)
    writeFileSync(path, `#!/bin/sh\ntouch ${join(touched, name)}\n`, { mode: 0o755 })
    return path
  }
  const hook = (name: string): unknown => [{ hooks: [{ type: 'command', command: script(name) }] }]
  execFileSync('git', ['init', '-q'], { cwd: workdir })
  execFileSync('git', ['config', 'core.fsmonitor', script('fsmonitor')], { cwd: workdir })
  writeFileSync(join(workdir, '.git/hooks/post-index-change'), `#!/bin/sh\ntouch ${join(touched, 'git')}\n`, {
    mode: 0o755,
  })
  mkdirSync(join(workdir, '.claude'))
  const settings = {
    enableAllProjectMcpServers: true,
    permissions: { allow: ['Bash'], defaultMode: 'bypassPermissions' },
    apiKeyHelper: script('key'),
    statusLine: { type: 'command', command: script('status') },
    hooks: {
      SessionStart: hook('start'),
      UserPromptSubmit: hook('prompt'),
      PreToolUse: hook('tool'),
      Stop: hook('stop'),
    },
  }
  writeFileSync(join(workdir, '.claude/settings.json'), JSON.stringify(settings))
  writeFileSync(
    join(workdir, '.claude/settings.local.json'),
    JSON.stringify({ permissions: { allow: ['Bash'] } }),
  )
  writeFileSync(
    join(workdir, '.mcp.json'),
    JSON.stringify({ mcpServers: { own: { command: script('mcp') } } }),
  )
  writeFileSync(join(workdir, 'CLAUDE.md'), 'the canary sings')

  const stranger = await begin()
  const turn = stranger.say('[[tool Bash {"command":"touch ran"}]]')
  const { ask, answer } = await stranger.nextAsk()
  expect(ask.kind === 'permission' && ask.rules.filter((rule) => rule.scope === 'always')).toEqual([])
  answer({ kind: 'deny' })
  await turn
  await stranger.agent.close()
  expect(readdirSync(touched)).toEqual([])
  expect(JSON.stringify(place.api.requests)).not.toContain('the canary sings')

  const friend = await begin({ trusted: true })
  await friend.say('[[tool Bash {"command":"touch ran"}]]')
  await friend.agent.close()
  expect(friend.openAsks()).toEqual([])
  expect(readdirSync(touched)).toEqual(expect.arrayContaining(['mcp', 'prompt', 'start', 'tool']))
  expect(JSON.stringify(place.api.requests)).toContain('the canary sings')
})

test('[DRV41] a rule that is to hold always is written where it was said, and holds in the next session', async () => {
  const first = await begin({ trusted: true })
  const turn = first.say('[[tool Bash {"command":"touch one"}]]')
  const { ask, answer } = await first.nextAsk()
  const always = ask.kind === 'permission' ? ask.rules.filter((rule) => rule.scope === 'always') : []
  expect(always).toHaveLength(1)
  answer({ kind: 'allow', rules: always.map((rule) => rule.id) })
  await turn
  await first.agent.close()
  const kept = readFileSync(join(place.workdir, '.claude/settings.local.json'), 'utf8')
  expect(JSON.parse(kept)).toEqual({ permissions: { allow: ['Bash(touch one *)'] } })
  const second = await begin({ trusted: true })
  await second.say('[[tool Bash {"command":"touch one"}]]')
  expect(second.openAsks()).toEqual([])
})

test('[DRV42] without a login that is said, with the next step', async () => {
  const { ANTHROPIC_API_KEY: _key, ...env } = place.env
  expect(await refusal({ env })).toMatchObject({
    code: 'not-logged-in',
    hint: expect.stringContaining('log in'),
  })
})

test('[DRV42] an agent that does not start says why', async () => {
  const stub = join(place.root, 'stub')
  writeFileSync(stub, '#!/bin/sh\necho native binary not installed >&2\nexit 1\n', { mode: 0o755 })
  expect((await refusal({}, join(place.root, 'nowhere'))).code).toBe('driver-unavailable')
  expect(await refusal({}, stub)).toMatchObject({
    code: 'driver-unavailable',
    message: expect.stringContaining('native binary not installed'),
  })
  expect((await refusal({ workdir: join(place.root, 'nowhere') })).code).toBe('request-invalid')
  expect((await refusal({ resume: { sessionId: randomUUID() } })).code).toBe('session-not-found')
})

test('[DRV42] an id that is taken, and an entry that is not there, are refused and change nothing', async () => {
  const first = await begin()
  await first.say('[[say one]]')
  await first.agent.close()
  const before = place.transcripts(first.sessionId)
  expect((await refusal({ sessionId: first.sessionId })).code).toBe('request-invalid')
  const resume = { sessionId: first.sessionId, fork: { at: randomUUID() } }
  expect((await refusal({ sessionId: randomUUID(), resume })).code).toBe('entry-not-found')
  expect(place.transcripts(first.sessionId)).toEqual(before)
})

test('[DRV5] a fork from an entry knows what was said up to there', async () => {
  const first = await begin()
  await first.say('[[say one]] the word is aubergine')
  const from = first.facts.length
  await first.say('[[say two]] the word is courgette')
  await first.agent.close()
  const at = first.facts.slice(0, from).findLast((fact) => fact.kind === 'message' && fact.role === 'agent')
  const fork = await begin({
    sessionId: randomUUID(),
    resume: {
      sessionId: first.sessionId,
      fork: at?.kind === 'message' && at.id !== undefined ? { at: at.id } : {},
    },
  })
  await fork.say('[[recall]]')
  expect(saidIn(fork.facts)).toContain('aubergine')
  expect(saidIn(fork.facts)).not.toContain('courgette')
})

test('[DRV43] [A02] [FLT33] an approval may take its time: nothing runs before it, and then it does', async () => {
  const one = await begin()
  await one.send('[[tool Bash {"command":"touch ran"}]]')
  const { answer, signal } = await one.nextAsk()
  await new Promise((resolve) => setTimeout(resolve, process.env['RUNS'] === 'full' ? 90_000 : 3_000))
  expect(existsSync(join(place.workdir, 'ran'))).toBe(false)
  expect(signal.aborted).toBe(false)
  answer({ kind: 'allow', rules: [] })
  expect(await one.heard('turn.ended')).toMatchObject({ outcome: { kind: 'answered' } })
  expect(existsSync(join(place.workdir, 'ran'))).toBe(true)
})

test('[DRV3] a prompt that comes while a tool runs is taken up in the same turn, and is told', async () => {
  const one = await begin()
  await one.send('[[tool Bash {"command":"sleep 1; touch ran"}]]')
  ;(await one.nextAsk()).answer({ kind: 'allow', rules: [] })
  const id = await one.send('[[say I heard you]]')
  await one.heard(
    'message',
    0,
    (fact) => fact.role === 'agent' && JSON.stringify(fact.blocks).includes('I heard you'),
  )
  await one.heard('turn.ended')
  expect(one.facts.filter((fact) => fact.kind === 'message' && fact.id === id)).toHaveLength(1)
})

test('[DRV44] a plan is approved like a permission, and what it asks to be freed of is only an offer', async () => {
  const one = await begin({ mode: 'plan' })
  const turn = one.say(
    '[[tool ExitPlanMode {"plan":"First this, then that."}]] [[tool Bash {"command":"sh -c \'touch ran\'"}]]',
  )
  const plan = await one.nextAsk()
  expect(plan.ask).toMatchObject({ kind: 'permission', tool: 'ExitPlanMode' })
  plan.answer({ kind: 'allow', rules: [] })
  ;(await one.nextAsk()).answer({ kind: 'deny' })
  await turn
  expect(existsSync(join(place.workdir, 'ran'))).toBe(false)
})

test('[DRV45] an image and a document reach the model as they are; what no prompt can hold is refused', async () => {
  const one = await begin()
  const data =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
  await one.agent.prompt({
    id: 'not-a-uuid',
    blocks: [
      { kind: 'text', text: '[[say I see]]' },
      { kind: 'image', source: { kind: 'base64', mediaType: 'image/png', data } },
      { kind: 'document', source: { kind: 'text', mediaType: 'text/plain', text: 'the small print' } },
    ],
  })
  expect(await one.heard('turn.started')).toEqual({ kind: 'turn.started', promptId: 'not-a-uuid' })
  await one.heard('turn.ended')
  const sent = JSON.stringify(list(place.api.requests.at(-1)?.body, 'messages'))
  expect(sent).toContain(data)
  expect(sent).toContain('the small print')
  const thought = { id: randomUUID(), blocks: [{ kind: 'thinking' as const, thinking: 'mine' }] }
  await expect(one.agent.prompt(thought)).rejects.toMatchObject({ code: 'request-invalid' })
})

test('[DRV46] another model answers from then on', async () => {
  const one = await begin()
  await one.agent.setModel('claude-sonnet-5')
  await one.say('[[say one]]')
  expect(place.api.requests.at(-1)?.body['model']).toBe('claude-sonnet-5')
  expect((await one.heard('started', 1)).model).toBe('claude-sonnet-5')
  await one.agent.close()
  await expect(one.agent.setModel('claude-opus-5')).rejects.toMatchObject({ code: 'agent-gone' })
  await expect(one.agent.setMode('plan')).rejects.toMatchObject({ code: 'agent-gone' })
  await one.agent.interrupt()
})

test('[DRV47] a session whose last turn failed, or was interrupted, is closed like any other', async () => {
  const one = await begin()
  await one.say('[[fail 400]]')
  await one.agent.close()
  expect(one.facts.at(-1)).toEqual({ kind: 'ended', reason: 'closed', message: undefined })
  const two = await begin()
  const turn = two.say('[[hang]]')
  await two.heard('turn.started')
  await two.agent.interrupt()
  expect(await turn).toEqual({ kind: 'interrupted' })
  await two.agent.close()
  expect(two.facts.at(-1)).toEqual({ kind: 'ended', reason: 'closed', message: undefined })
})

test('[DRV48] a failure of a tool is an answer like any other, with its words', async () => {
  const one = await begin()
  const turn = one.say('[[tool Bash {"command":"sh -c \'echo oh dear >&2; exit 3\'"}]] [[say over]]')
  ;(await one.nextAsk()).answer({ kind: 'allow', rules: [] })
  expect(await turn).toMatchObject({ kind: 'answered' })
  expect(resultsIn(one.facts).join()).toContain('oh dear')
  const result = one.facts.find((fact) => fact.kind === 'message' && fact.role === 'tool')
  expect(result?.kind === 'message' && result.blocks[0]).toMatchObject({ kind: 'tool-result', isError: true })
})

test('[DRV49] a server that asks is answered by a person', async () => {
  const server = join(import.meta.dirname, 'fixtures/asking-server.mjs')
  const servers = { asking: { command: process.execPath, args: [server] } }
  writeFileSync(join(place.workdir, '.mcp.json'), JSON.stringify({ mcpServers: servers }))
  mkdirSync(join(place.workdir, '.claude'))
  writeFileSync(
    join(place.workdir, '.claude/settings.json'),
    JSON.stringify({ enableAllProjectMcpServers: true }),
  )
  const one = await begin({ trusted: true })
  await one.say('[[say ready]]')
  const turn = one.say('[[tool mcp__asking__order {}]]')
  const permission = await one.nextAsk()
  expect(permission.ask).toMatchObject({ kind: 'permission', tool: 'mcp__asking__order' })
  permission.answer({ kind: 'allow', rules: [] })
  const question = await one.nextAsk()
  expect(question.ask).toMatchObject({ kind: 'question', questions: [{ question: 'How many?\ncount' }] })
  question.answer({ kind: 'answer', answers: [['3']] })
  await turn
  expect(resultsIn(one.facts).join()).toContain('"action":"accept","content":{"count":3}')
})
