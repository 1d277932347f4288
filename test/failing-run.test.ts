import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { list, object, string } from '#base'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openCliPlace, type CliPlace } from './cli-live-place.ts'

const checkout = join(import.meta.dirname, '..')

let place: CliPlace
beforeEach(async () => {
  place = await openCliPlace()
})
afterEach(() => place.close())

const cards = async (): Promise<readonly unknown[]> => list(await place.json(['board']), 'cards')

test('[RUN42] an agent whose program is missing is refused with what to install, and nothing is left of the attempt', async () => {
  // The daemon that the first command starts is the one that looks for programs.
  const env = { PATH: '/nowhere' }
  for (const more of [['hello'], ['--detach'], ['--detach', 'hello']]) {
    const { code, out, err } = await place.run(['run', '--agent', 'codex', ...more], { env })
    expect([code, out]).toEqual([1, ''])
    expect(err).toBe(
      'error: codex-acp is not installed\nnext: Run `npm install -g @agentclientprotocol/codex-acp`.\n',
    )
  }
  expect(await cards()).toEqual([])
  expect(await place.json(['ls'])).toMatchObject({ sessions: [] })
})

test('[RUN42] [RUN43] an agent that does not start is told with its own words by run and resume', async () => {
  const agent = join(place.path, 'broken-agent')
  writeFileSync(agent, '#!/bin/sh\necho "the licence has expired" >&2\nexit 3\n')
  chmodSync(agent, 0o700)
  const config = { wakeUp: { on: false }, agents: { codex: { executable: agent, args: [] } } }
  writeFileSync(join(place.path, 'home', 'config.json'), JSON.stringify(config), { mode: 0o600 })
  for (const more of [['hello'], ['--detach']]) {
    const { code, out, err } = await place.run(['run', '--agent', 'codex', ...more])
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('Codex did not start: the licence has expired')
    expect(err).toMatch(/^next: Check that Codex works in a terminal/mu)
  }
  const [id = ''] = (await cards()).flatMap((card) => string(card, 'sessionId') ?? [])
  if (id !== '') {
    const resumed = await place.run(['resume', id])
    expect([resumed.code, resumed.out]).toEqual([1, ''])
    expect(resumed.err).toContain('the licence has expired')
  }
  expect((await cards()).map((card) => string(object(card, 'state'), 'state'))).not.toContain('running')
})

test('[RUN42] the package as it is installed globally, without the Agent SDK, says which command installs it', async () => {
  const prefix = mkdtempSync(join(tmpdir(), 'throughline-prefix-'))
  const modules = join(prefix, 'lib', 'node_modules')
  const own = join(modules, 'throughline')
  mkdirSync(own, { recursive: true })
  cpSync(join(checkout, 'dist'), join(own, 'dist'), { recursive: true })
  cpSync(join(checkout, 'package.json'), join(own, 'package.json'))
  for (const name of readdirSync(join(checkout, 'node_modules')))
    if (name !== '@anthropic-ai' && !name.startsWith('.'))
      symlinkSync(join(checkout, 'node_modules', name), join(modules, name))
  const installed = await openCliPlace(join(own, 'dist/bin/throughline.js'))
  try {
    const { code, out, err } = await installed.run(['run', 'hello'])
    expect([code, out]).toEqual([1, ''])
    expect(err).toBe(
      `error: the Claude Agent SDK is not installed\nnext: Install it beside Throughline: \`npm install -g --prefix ${prefix} @anthropic-ai/claude-agent-sdk\`.\n`,
    )
    expect(list(await installed.json(['board']), 'cards')).toEqual([])
  } finally {
    await installed.close()
    rmSync(prefix, { recursive: true, force: true })
  }
})
