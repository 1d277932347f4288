import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { list, object, string } from '#base'
import { eventually } from '#testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openCliPlace, type CliPlace } from './cli-live-place.ts'
import { openScreen, TMUX, type Screen } from './tmux-screen.ts'

let place: CliPlace
let screen: Screen | undefined
beforeAll(async () => {
  place = await openCliPlace()
})
afterEach(async () => {
  await screen?.close()
  screen = undefined
  await place.clear()
  rmSync(join(place.workdir, 'made.txt'), { force: true })
})
afterAll(() => place.close())

const AGENT = ['--agent', 'scripted']
const TOUCH = '[[tool Bash {"command":"echo made > made.txt"}]] [[say That was it.]]'
const made = (name = 'made.txt'): boolean => existsSync(join(place.workdir, name))
const CHOICE = /y once · n no \(words may follow\) · s this session · e edit first:\s*$/

async function open(args: readonly string[], env: Record<string, string> = {}): Promise<Screen> {
  const { path, workdir, command } = place
  screen = await openScreen({
    folder: path,
    workdir,
    env: { ...place.env, COLUMNS: '', ...env },
    command: [...command, ...args],
  })
  return screen
}

async function stateOf(id: string): Promise<string | undefined> {
  const cards = list(await place.json(['board']), 'cards')
  return string(
    object(
      cards.find((card) => string(card, 'sessionId') === id),
      'state',
    ),
    'state',
  )
}

describe.skipIf(TMUX === undefined)('in a terminal', () => {
  test('[CLV17] a person is asked, with everything that would run; y runs it once', async () => {
    const terminal = await open(['run', ...AGENT, TOUCH])
    const shown = await terminal.until(CHOICE)
    expect(shown).toContain('◆ May Bash run?')
    expect(shown).toContain('$ echo made > made.txt')
    expect(shown).toMatch(/in ~\/work/)
    expect(shown).toContain('1. for this session: Bash(echo made > made.txt)')
    expect(made()).toBe(false)
    await terminal.type('perhaps')
    await terminal.until(/type one of y, n, s, e/)
    expect(made()).toBe(false)
    await terminal.type('y')
    expect(await terminal.ended()).toBe(0)
    expect(made()).toBe(true)
  })

  test('[CLV17] n with words denies; s allows the same again in this session, and nothing else', async () => {
    const again = '[[tool Bash {"command":"echo made > made.txt"}]]'
    const terminal = await open(['run', ...AGENT, `${again} ${again} ${again} [[say End.]]`])
    await terminal.until(CHOICE)
    await terminal.type('n use a pen')
    await terminal.until(/✕ denied: use a pen[^]*edit first:\s*$/)
    expect(made()).toBe(false)
    await terminal.type('s')
    expect(await terminal.ended()).toBe(0)
    expect(made()).toBe(true)
    expect((await terminal.read()).match(/May Bash run/g)).toHaveLength(2)
  })

  test('[CLV18] e opens the input in the editor, and what was made of it is what runs', async () => {
    const terminal = await open(['run', ...AGENT, TOUCH], { EDITOR: 'sed -i s/made.txt/edited.txt/' })
    await terminal.until(CHOICE)
    await terminal.type('e')
    expect(await terminal.ended()).toBe(0)
    expect({ made: made(), edited: made('edited.txt') }).toEqual({ made: false, edited: true })
  })

  test('[CLV18] without an editor it is typed; what is no object is not taken', async () => {
    const terminal = await open(['run', ...AGENT, TOUCH])
    await terminal.until(CHOICE)
    await terminal.type('e')
    await terminal.until(/input as JSON:/)
    await terminal.type('rm -rf')
    await terminal.until(/that is no JSON object/)
    await terminal.until(CHOICE)
    await terminal.type('e')
    await terminal.until(/input as JSON:\s*$/)
    await terminal.type('{"command":"echo typed > typed.txt"}')
    expect(await terminal.ended()).toBe(0)
    expect({ made: made(), typed: made('typed.txt') }).toEqual({ made: false, typed: true })
  })

  test('[CLV19] what was typed before a question was shown does not answer it', async () => {
    const terminal = await open(['run', ...AGENT, `[[say Wait.]] [[pause 3000]] ${TOUCH}`])
    await terminal.until(/Wait\./)
    await terminal.type('y')
    await terminal.press('y')
    await terminal.until(CHOICE)
    await terminal.press('Enter')
    await terminal.until(/type one of/)
    expect(made()).toBe(false)
    await terminal.type('n')
    expect(await terminal.ended()).toBe(0)
    expect(made()).toBe(false)
  })

  test('[CLV20] a question is answered by number or in words; answered elsewhere, nobody is asked here', async () => {
    const terminal = await open([
      'run',
      ...AGENT,
      '[[ask Which? | Red | Blue]] [[ask Why? | So]] [[ask And? | A]] [[say Ok.]]',
    ])
    await terminal.until(/1\. Red[^]*answer \(number or words\):/)
    await terminal.type('2')
    await terminal.until(/Why\?[^]*answer \(number or words\):\s*$/)
    await terminal.type('because of the tides')
    await terminal.until(/And\?[^]*answer \(number or words\):\s*$/)
    await place.run(['answer', await place.untilAsked(), 'answer', '--option', 'A'])
    await terminal.until(/answered by this machine/)
    expect(await terminal.ended()).toBe(0)
  })

  test('[CLV3] Ctrl-C once interrupts, twice leaves the session alone', async () => {
    const terminal = await open(['run', ...AGENT, TOUCH])
    await terminal.until(CHOICE)
    await terminal.press('C-c')
    expect(await terminal.ended()).toBe(130)
    expect(made()).toBe(false)
    await terminal.close()
    const other = await open(['run', ...AGENT, '[[tool Bash {"command":"trap \\"\\" INT TERM; sleep 3"}]]'])
    await other.until(CHOICE)
    const id = /session (\S+) ·/.exec(await other.read())?.[1] ?? ''
    await other.press('C-c')
    await other.press('C-c')
    expect(await other.ended()).toBe(130)
    expect(['idle', 'running', 'waiting']).toContain(await stateOf(id))
  })

  test('[CLV21] attach: prompts of several lines, answers, and Ctrl-D leaves the session as it is', async () => {
    const { out } = await place.run(['run', ...AGENT, '--detach', 'hello'])
    const id = out.trim()
    await eventually(async () => expect(await stateOf(id)).toBe('idle'))
    const terminal = await open(['attach', id.slice(0, 8)])
    await terminal.until(/You said: hello\n> *$/m)
    await terminal.type('one \\')
    await terminal.until(/… *$/m)
    await terminal.type('two')
    await terminal.until(/You said: one ?\ntwo\n> *$/m)
    await terminal.type(TOUCH)
    await terminal.until(CHOICE)
    await terminal.type('y')
    await terminal.until(/That was it\.\n> *$/m)
    expect(made()).toBe(true)
    await terminal.press('C-d')
    expect(await terminal.ended()).toBe(0)
    expect(await stateOf(id)).toBe('idle')
  })

  test('[CLV22] --trust shows what the folder would load, with its hash, and asks', async () => {
    const folder = join(place.path, 'foreign')
    mkdirSync(join(folder, '.claude'), { recursive: true })
    writeFileSync(join(folder, '.claude/settings.json'), '{"permissions":{"allow":["Bash(make:*)"]}}')
    const args = ['run', ...AGENT, '--workdir', folder, '--trust', '--end', 'hello']
    const no = await open(args)
    const shown = await no.until(/trust this folder as it is\? y\/n:/)
    expect(shown).toContain('Bash(make:*)')
    expect(shown).toMatch(/hash [0-9a-f]{64}/)
    await no.type('n')
    expect(await no.ended()).toBe(0)
    expect(await no.read()).toContain('the folder is not trusted')
    await no.close()
    const yes = await open(args)
    await yes.until(/y\/n:/)
    await yes.type('y')
    expect(await yes.ended()).toBe(0)
    expect(await yes.read()).not.toContain('is not trusted')
    const later = await place.run(['run', ...AGENT, '--workdir', folder, '--end', 'hello'])
    expect(later.err).not.toContain('trusted')
    writeFileSync(join(folder, '.claude/settings.json'), '{"permissions":{"allow":["Bash"]}}')
    const changed = await place.run(['run', ...AGENT, '--workdir', folder, '--end', 'hello'])
    expect(changed.err).toContain('changed since it was trusted')
  })
})
