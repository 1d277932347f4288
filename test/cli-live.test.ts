import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { field, list, object, parseJson, string } from '#base'
import { commands } from '#cli'
import { eventually } from '#testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openCliPlace, type CliPlace } from './cli-live-place.ts'

let place: CliPlace
beforeAll(async () => {
  place = await openCliPlace()
})
afterEach(async () => {
  await place.clear()
  rmSync(join(place.workdir, 'made.txt'), { force: true })
})
afterAll(() => place.close())

const AGENT = ['--agent', 'scripted']
const TOUCH = '[[tool Bash {"command":"echo made > made.txt"}]] [[say That was it.]]'
const made = (name = 'made.txt'): boolean => existsSync(join(place.workdir, name))

/** The lines of a stream of events. */
function eventsIn(out: string): readonly unknown[] {
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJson(line))
}

async function detach(prompt: string): Promise<string> {
  return (await place.run(['run', ...AGENT, '--detach', prompt])).out.trim()
}

async function untilIdle(id: string): Promise<void> {
  await eventually(async () => {
    const cards = list(await place.json(['board']), 'cards')
    const card = cards.find((one) => string(one, 'sessionId') === id)
    expect(string(object(card, 'state'), 'state')).toBe('idle')
  })
}

describe.each(['without a daemon', 'with a daemon'])('run, %s', (how) => {
  beforeAll(async () => {
    await place.clear()
  })

  async function begin(): Promise<void> {
    if (how === 'with a daemon') expect((await place.run(['--no-open'])).code).toBe(0)
  }

  test('[CLV1] the answer is the output, everything else stands beside it, and the session lives on', async () => {
    await begin()
    const { code, out, err } = await place.run(['run', ...AGENT, 'hello', 'there'])
    expect({ code, out }).toEqual({ code: 0, out: 'You said: hello there\n' })
    const id = /session (\S+) · scripted/.exec(err)?.[1] ?? ''
    expect(await place.json(['board'])).toMatchObject({
      cards: [{ sessionId: id, state: { state: 'idle' } }],
    })
  })

  test('[CLV1] a prompt may be piped in; with --end nothing is left running', async () => {
    await begin()
    const piped = await place.run(['run', ...AGENT, '--end'], { input: 'from a pipe\n' })
    expect(piped).toMatchObject({ code: 0, out: 'You said: from a pipe\n' })
    const dashed = await place.run(['run', '-', ...AGENT, '--end'], { input: 'dash' })
    expect(dashed.out).toBe('You said: dash\n')
    const cards = list(await place.json(['board']), 'cards')
    expect(cards.filter((card) => string(object(card, 'state'), 'state') !== 'ended')).toEqual([])
    const none = await place.run(['run', ...AGENT])
    expect(none).toMatchObject({ code: 2, out: '' })
  })

  test('[CLV2] tool calls are one quiet line; a turn that fails or is interrupted gives exit 1', async () => {
    await begin()
    const denied = await place.run(['run', ...AGENT, '--deny-all', TOUCH])
    expect(denied.code).toBe(0)
    expect(denied.out).toMatch(
      /^· Bash echo made > made\.txt\n {2}✕ denied: Nobody is there to ask.*\nThat was it\.\n$/,
    )
    expect(made()).toBe(false)
    const failed = await place.run(['run', ...AGENT, '[[fail 529]]'])
    expect(failed.code).toBe(1)
    expect(failed.err).toMatch(/error: .*529[^]*next: /)
    const hanging = place.start(['run', ...AGENT, '[[say Now.]] [[hang]]'])
    await hanging.until(/Now\./)
    const waiting = list(await place.json(['board']), 'cards').find(
      (card) => string(object(card, 'state'), 'state') === 'running',
    )
    expect((await place.run(['interrupt', string(waiting, 'sessionId')?.slice(0, 8) ?? ''])).code).toBe(0)
    expect(await hanging.done).toMatchObject({ code: 1 })
  })

  test('[CLV3] Ctrl-C interrupts the turn, and gives exit 130', async () => {
    await begin()
    const hanging = place.start(['run', ...AGENT, '[[say Now.]] [[hang]]'])
    await hanging.until(/Now\./)
    process.kill(hanging.pid, 'SIGINT')
    const { code, err } = await hanging.done
    expect(code).toBe(130)
    expect(err).toContain('Ctrl-C again leaves the session alone')
    expect(await place.json(['board'])).toMatchObject({
      cards: [{ state: { state: 'idle' }, lastTurn: 'interrupted' }],
    })
  })

  test('[CLV4] what is asked is said with its id, and answered elsewhere; the output goes on', async () => {
    await begin()
    const asking = place.start(['run', ...AGENT, TOUCH])
    const id = await place.untilAsked()
    await asking.until(new RegExp(`waits for an answer: Bash echo made[^]*throughline answer ${id}`))
    expect(made()).toBe(false)
    const shown = await place.run(['attentions', id.slice(0, 8)])
    expect(shown.out).toContain('$ echo made > made.txt')
    expect(shown.out).toContain('for this session: Bash(echo made > made.txt)')
    expect((await place.run(['answer', id.slice(0, 8), 'allow'])).code).toBe(0)
    expect(await asking.done).toMatchObject({ code: 0 })
    expect(made()).toBe(true)
  })

  test('[CLV5] --json gives every event as a line, and ends with the turn', async () => {
    await begin()
    const { out, code } = await place.run(['run', ...AGENT, '--json', 'hello'])
    expect(code).toBe(0)
    const events = eventsIn(out)
    expect(events[0]).toMatchObject({ kind: 'live.view' })
    // Who comes when it is over already is told how it stands.
    const last = object(events.at(-1), 'event') ?? object(object(events.at(-1), 'view'), 'turn')
    expect(field(last, 'outcome')).toMatchObject({ kind: 'answered' })
    expect(out).toContain('You said: hello')
  })
})

describe('a session that runs', () => {
  test('[CLV6] --detach prints only the id; send hands over a prompt, and with --wait shows the answer', async () => {
    const id = await detach('first')
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    await untilIdle(id)
    const sent = await place.run(['send', id.slice(0, 8), 'second', 'one', '--wait'])
    expect(sent).toMatchObject({ code: 0, out: 'You said: second one\n' })
    expect(await place.json(['send', id, 'third'])).toMatchObject({
      sessionId: id,
      prompt: { state: 'queued' },
    })
    expect((await place.run(['end', id.slice(0, 8)])).code).toBe(0)
    const late = await place.run(['send', id, 'fourth'])
    expect(late.code).toBe(1)
    expect(late.err).toMatch(/^error: .*not live\nnext: /)
  })

  test('[CLV7] attach shows the turn so far and goes on with it, each word once', async () => {
    const id = await detach('[[say One two three.]] [[slow 150]] [[say Four five six seven eight nine.]]')
    await eventually(async () => expect((await place.run(['board'])).out).toContain('running'))
    const attached = place.start(['attach', id.slice(0, 8)])
    await attached.until(/nine\./)
    await place.run(['end', id])
    const { code, out } = await attached.done
    expect(code).toBe(0)
    expect(out.match(/^One two three\./gm)).toHaveLength(1)
    expect(out).toContain('Four five six seven eight nine.')
  })

  test('[CLV8] resume goes on where it was, fork goes on with a copy', async () => {
    const id = await detach('the secret word is kumquat')
    await untilIdle(id)
    await place.run(['end', id])
    const resumed = await place.run(['resume', id.slice(0, 8), '[[recall]]', '--end'])
    expect(resumed).toMatchObject({ code: 0 })
    expect(resumed.out).toContain('kumquat')
    const forked = await place.run(['resume', id, '--fork', '[[recall]]', '--end'])
    expect(forked.out).toContain('kumquat')
    expect(forked.err).toMatch(/session (\S+) ·/)
    expect(/session (\S+) ·/.exec(forked.err)?.[1]).not.toBe(id)
    const both = await place.run(['resume', id, '--fork', '--take-over'])
    expect(both.code).toBe(2)
  })

  test('[CLV9] the board, ls and attentions say the same of who waits', async () => {
    await place.run(['--no-open'])
    const id = await detach('[[ask Which one? | Red | Blue]] [[say Fine.]]')
    const attention = await place.untilAsked()
    expect((await place.run(['board'])).out).toMatch(/◆ {2}waiting/)
    expect((await place.run(['ls', '--live', 'waiting'])).out).toContain(id.slice(0, 8))
    expect((await place.run(['attentions'])).out).toMatch(
      new RegExp(`${attention.slice(0, 8)} {2}Which one\\?`),
    )
    await place.run(['answer', attention, 'answer', '--option', 'blue'])
    await untilIdle(id)
    expect((await place.run(['attentions'])).err).toBe('Nobody waits for you.\n')
  })

  test('[CLV9] without a daemon ls shows the state of what is run here', async () => {
    const id = await detach('hello')
    await untilIdle(id)
    expect((await place.run(['ls', '--live'])).out).toMatch(new RegExp(`^○.*${id.slice(0, 8)}`, 'm'))
  })
})

describe('answers', () => {
  async function ask(prompt = TOUCH): Promise<string> {
    await detach(prompt)
    return await place.untilAsked()
  }

  test('[CLV10] the first answer counts; a later one is told who was first, exit 1', async () => {
    const id = await ask()
    expect((await place.run(['answer', id, 'deny', '--words', 'not now'])).code).toBe(0)
    const late = await place.run(['answer', id, 'allow'])
    expect(late.code).toBe(1)
    expect(late.err).toContain('error: too late: it was denied by this machine')
    expect(made()).toBe(false)
    const unknown = await place.run(['answer', 'ffffffff', 'allow'])
    expect(unknown.code).toBe(1)
    expect(unknown.err).toContain('nothing is open')
  })

  test('[CLV10] two answers at once: one counts', async () => {
    const id = await ask()
    const both = await Promise.all(['allow', 'deny'].map((verb) => place.run(['answer', id, verb])))
    expect(new Set(both.map(({ code }) => code))).toEqual(new Set([0, 1]))
  })

  test('[CLV11] an edited input is what runs; a rule holds only where it was chosen', async () => {
    const file = join(place.path, 'input.json')
    writeFileSync(file, '{"command":"echo edited > edited.txt"}')
    const id = await ask()
    expect((await place.run(['answer', id, 'allow', '--input', file])).code).toBe(0)
    await eventually(async () => expect(made('edited.txt')).toBe(true))
    expect(made()).toBe(false)
    const write = await ask('[[tool Write {"file_path":"w.txt","content":"x"}]]')
    const several = await place.run(['answer', write, 'session'])
    expect(several.code).toBe(2)
    expect(several.err).toContain('2. for this session: All edits without asking')
    expect((await place.run(['answer', write, 'always'])).code).toBe(2)
    expect((await place.run(['answer', write, 'session', '--rule', '1'])).code).toBe(0)
  })

  test('[CLV11] an answer to something else than what was shown is refused', async () => {
    const id = await ask()
    const other = await place.run(['answer', id, 'allow', '--hash', 'f'.repeat(64)])
    expect(other.code).toBe(1)
    expect(made()).toBe(false)
    expect(await place.untilAsked()).toBe(id)
  })

  test('[CLV12] --watch tells what opens and what is over, as it happens', async () => {
    const watching = place.start(['attentions', '--watch', '--json'])
    const id = await ask()
    await watching.until(new RegExp(`"opened".*${id}`))
    await place.run(['answer', id, 'deny'])
    await watching.until(new RegExp(`"settled".*${id}`))
    process.kill(watching.pid, 'SIGINT')
    expect(await watching.done).toMatchObject({ code: 0 })
  })
})

test('[CLV13] audit reads the record, and gives exit 1 when a line was changed', async () => {
  const { err } = await place.run(['run', ...AGENT, '--deny-all', '--end', TOUCH])
  const id = /session (\S+) ·/.exec(err)?.[1] ?? ''
  const whole = await place.run(['audit', id.slice(0, 8)])
  expect(whole.code).toBe(0)
  expect(whole.out).toMatch(/called Bash[^]*asked for Bash[^]*deny by this machine/)
  expect(whole.err).toContain('The record is whole')
  expect((await place.run(['audit'])).out).toContain(id)
  const folder = join(place.path, 'home/audit')
  const file =
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) => name.includes(id)) ?? ''
  const path = join(folder, file)
  writeFileSync(path, readFileSync(path, 'utf8').replace('"deny"', '"allow"'))
  const broken = await place.run(['audit', id, '--json'])
  expect(broken.code).toBe(1)
  expect(parseJson(broken.out)).toMatchObject({ verdict: { kind: 'broken' } })
})

test('[AUD8] a phone called `this machine` is not this machine in the record', async () => {
  const asking = place.start(['run', ...AGENT, '--end', TOUCH])
  const id = await place.untilAsked()
  await place.run(['start'])
  const link = new URL(string(await place.json(['pair']), 'link') ?? '')
  const post = async (path: string, body: object, token?: string): Promise<unknown> => {
    const response = await fetch(new URL(`/api/${path}`, link), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    })
    return await response.json()
  }
  const phone = await post('login', { code: link.hash.slice('#code='.length), label: 'this machine' })
  const device = { id: string(object(phone, 'device'), 'id') ?? '', label: 'this machine' }
  const hash = string(list(await place.json(['attentions']), 'attentions')[0], 'hash')
  const token = string(phone, 'token')
  const changed = { hash, resolution: { kind: 'allow', rules: [], input: null } }
  expect(await post(`attentions/${id}/resolution`, changed, token)).toMatchObject({ code: 'request-invalid' })
  await post(`attentions/${id}/resolution`, { hash, resolution: { kind: 'deny' } }, token)
  const session = /session (\S+) ·/.exec((await asking.done).err)?.[1] ?? ''

  const by = `this machine (device ${device.id})`
  expect((await place.run(['audit', session])).out).toContain(`deny by ${by}  ${id.slice(0, 8)}`)
  const report = await place.json(['audit', session])
  const settled = list(report, 'entries').map((entry) => object(entry, 'settled'))
  expect(settled.filter((end) => end !== undefined)).toEqual([{ end: 'deny', by, device }])
  const late = await place.run(['answer', id, 'allow'])
  expect(late.err).toContain(`it was denied by this machine (device ${device.id.slice(0, 8)})`)
})

test('[CLV14] nothing an agent says acts on the terminal', async () => {
  const evil = '\u001b[2J\u009b31m\u202e\u0007\u001b]0;x\u0007'
  const prompt = `[[say a${evil}b]] [[tool Bash {"command":"echo ${JSON.stringify(evil).slice(1, -1)}"}]] [[say c${evil}]]`
  const { out } = await place.run(['run', ...AGENT, '--deny-all', '--end', prompt])
  // oxlint-disable-next-line no-control-regex
  expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
  await detach(prompt)
  const id = await place.untilAsked()
  for (const args of [['attentions'], ['attentions', id], ['board'], ['answer', id, 'deny']]) {
    const said = await place.run(args)
    // oxlint-disable-next-line no-control-regex
    expect(said.out + said.err).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
  }
})

test('[CLV15] a folder that nobody trusted runs without its settings, and that is said in one line', async () => {
  const folder = join(place.path, 'foreign')
  mkdirSync(join(folder, '.claude'), { recursive: true })
  writeFileSync(join(folder, '.claude/settings.json'), '{"permissions":{"allow":["Bash"]}}')
  const { err, code } = await place.run(['run', ...AGENT, '--workdir', folder, '--trust', '--end', 'hello'])
  expect(code).toBe(0)
  expect(err.match(/note: the folder is not trusted: its settings \(1 file\) are not loaded/g)).toHaveLength(
    1,
  )
})

test('[CLV16] errors are one sentence and a next step, as JSON with --json', async () => {
  const unknown = await place.run(['run', '--agent', 'nobody', 'hello', '--json'])
  expect(unknown).toMatchObject({ code: 1, out: '' })
  expect(object(parseJson(unknown.err), 'error')).toMatchObject({ hint: expect.any(String) as unknown })
  const folder = await place.run(['run', ...AGENT, '--workdir', '/nowhere', 'hello'])
  expect(folder.err).toMatch(/^error: .*\nnext: .*\n$/)
  for (const name of ['attach', 'send', 'interrupt', 'end', 'audit', 'resume']) {
    const { code, err } = await place.run([name, 'ffffffff', ...(name === 'send' ? ['x'] : [])])
    expect({ name, code }).toEqual({ name, code: 1 })
    expect(err).toMatch(/^error: .*\nnext: /)
  }
  const names = commands.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['run', 'attach', 'send', 'answer', 'connect', 'disconnect']))
})
