import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { list, parseJson } from '#base'
import { openTempDir } from '#testing'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { MAIN, runCommand, type Result } from './mcp-process.ts'
import { openScreen, TMUX } from './tmux-screen.ts'

beforeAll(() => {
  if (!existsSync(MAIN)) throw new Error('run `npm run build` first')
})

interface Place {
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  readonly file: string
  readonly run: (...args: readonly string[]) => Promise<Result>
}

const AGENTS = {
  codex: { file: '.codex/config.toml', text: '# mine\nmodel = "gpt-5.5"\n\n[features]\napps = false' },
  gemini: {
    file: '.gemini/settings.json',
    text: '{\n\t// my theme\n\t"ui": { "theme": "Dark" },\n\t"mcpServers": {\n\t\t"git": { "command": "uvx" }, // a comma too many\n\t},\n}\n',
  },
} as const
type Agent = keyof typeof AGENTS

async function openPlace(agent: Agent): Promise<Place> {
  const temp = await openTempDir()
  onTestFinished(() => temp.remove())
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: temp.path,
    THROUGHLINE_HOME: join(temp.path, 'home'),
  }
  const file = join(temp.path, AGENTS[agent].file)
  mkdirSync(dirname(file))
  return { root: temp.path, env, file, run: (...args) => runCommand(args, env) }
}

describe.each(['codex', 'gemini'] as const)('%s', (agent) => {
  const { text } = AGENTS[agent]

  test('[CON2] the change is shown, and without a yes nothing is written', async () => {
    const { file, run } = await openPlace(agent)
    writeFileSync(file, text)
    const dry = await run('connect', agent, '--dry-run')
    expect([dry.code, dry.out]).toEqual([0, expect.stringContaining('throughline.js')])
    expect(dry.err).toContain('nothing was changed')
    const asked = await run('connect', agent)
    expect([asked.code, asked.out]).toEqual([1, dry.out])
    expect(asked.err).toContain('add --yes')
    expect(readFileSync(file, 'utf8')).toBe(text)
    // Only what changes is shown, not the rest of somebody's settings.
    expect(dry.out).not.toMatch(/mine|my theme/)
  })

  test('[CON3] connected and disconnected, the file is byte for byte what it was', async () => {
    const { file, run } = await openPlace(agent)
    writeFileSync(file, text)
    expect((await run('connect', agent, '--yes')).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toContain('throughline.js')
    const again = await run('connect', agent, '--yes')
    expect([again.code, again.err]).toEqual([0, expect.stringContaining('Connected already')])
    expect((await run('disconnect', agent, '--yes')).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(text)
    expect((await run('disconnect', agent, '--yes')).err).toContain('nothing of ours')
    expect(readdirSync(dirname(file))).toHaveLength(1)
  })

  test('[CON3] a file that was not there is made for its owner only, and is gone afterwards', async () => {
    const { file, run } = await openPlace(agent)
    expect((await run('connect', agent, '--yes')).code).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await run('disconnect', agent, '--yes')).code).toBe(0)
    expect(existsSync(file)).toBe(false)
  })

  test('[CON6] a link stays a link, permissions stay, and nothing else lies beside the file', async () => {
    const { file, run, root } = await openPlace(agent)
    const real = join(root, 'dotfiles')
    mkdirSync(real)
    writeFileSync(join(real, 'settings'), text)
    chmodSync(join(real, 'settings'), 0o640)
    symlinkSync('../dotfiles/settings', file)
    const shown = await run('connect', agent, '--yes')
    expect(shown.out).toContain('dotfiles/settings')
    expect(lstatSync(file).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(real, 'settings'), 'utf8')).toContain('throughline.js')
    expect(statSync(file).mode & 0o777).toBe(0o640)
    await run('disconnect', agent, '--yes')
    expect(readlinkSync(file)).toBe('../dotfiles/settings')
    expect(readFileSync(file, 'utf8')).toBe(text)
    expect(readdirSync(real)).toEqual(['settings'])
  })

  test('[CON5] what is no text, leads nowhere, or belongs to others is refused and left alone', async () => {
    const { file, run } = await openPlace(agent)
    const foreign = {
      codex: '[mcp_servers.throughline]\ncommand = "other"\n',
      gemini: '{"mcpServers":{"throughline":{"command":"other"}}}',
    }
    for (const bytes of [Buffer.from([0x7b, 0xff, 0x7d]), Buffer.from(foreign[agent]), Buffer.from('[[[')]) {
      writeFileSync(file, bytes)
      for (const command of ['connect', 'disconnect']) {
        const { code, err } = await run(command, agent, '--yes')
        expect([code, err]).toEqual([1, expect.stringMatching(/error: .*\nnext: .*/)])
      }
      expect(readFileSync(file)).toEqual(bytes)
    }
    const dangling = await openPlace(agent)
    symlinkSync('nowhere', dangling.file)
    expect((await dangling.run('connect', agent, '--yes')).code).toBe(1)
    expect(readlinkSync(dangling.file)).toBe('nowhere')
  })

  test('[CON8] an entry of another place is replaced by that of this one', async () => {
    const { file, run, env } = await openPlace(agent)
    writeFileSync(file, text)
    await run('connect', agent, '--yes')
    const elsewhere = readFileSync(file, 'utf8').replaceAll(MAIN, '/old/place/throughline.js')
    writeFileSync(file, elsewhere)
    expect((await run('connect', agent, '--yes')).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toContain(MAIN)
    expect(readFileSync(file, 'utf8')).not.toContain('/old/place')
    await runCommand(['disconnect', agent, '--yes'], env)
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test('[CON9] no other file is written: none of instructions, none of settings', async () => {
    const { root, file, run } = await openPlace(agent)
    const names = ['CLAUDE.md', 'AGENTS.md', 'GEMINI.md', '.codex/AGENTS.md', '.gemini/GEMINI.md']
    for (const name of names) {
      mkdirSync(dirname(join(root, name)), { recursive: true })
      writeFileSync(join(root, name), `of ${name}`)
    }
    const before = readdirSync(root, { recursive: true, encoding: 'utf8' })
    await run('connect', agent, '--yes')
    const after = readdirSync(root, { recursive: true, encoding: 'utf8' })
    expect(after.filter((name) => !before.includes(name) && join(root, name) !== file)).toEqual([])
    for (const name of names) expect(readFileSync(join(root, name), 'utf8')).toBe(`of ${name}`)
  })

  test('[CON2] as JSON: what would change, and whether it did', async () => {
    const { file, run } = await openPlace(agent)
    writeFileSync(file, text)
    const dry = parseJson((await run('connect', agent, '--dry-run', '--json')).out)
    expect(dry).toMatchObject({ agent, dryRun: true, path: file, changed: false })
    expect(list(dry, 'lines').length).toBeGreaterThan(0)
    const done = parseJson((await run('connect', agent, '--yes', '--json')).out)
    expect(done).toMatchObject({ agent, dryRun: false, changed: true })
  })
})

test.skipIf(TMUX === undefined)('[CON2] a person at a terminal is asked, and a no is a no', async () => {
  const { env, file, root, run } = await openPlace('codex')
  writeFileSync(file, 'model = "a"\n')
  for (const [answer, code] of [
    ['n', 1],
    ['y', 0],
  ] as const) {
    const command = [process.execPath, MAIN, 'connect', 'codex']
    const screen = await openScreen({ folder: root, workdir: root, env, command })
    try {
      await screen.until(/change it\? y\/n/)
      await screen.type(answer)
      expect(await screen.ended()).toBe(code)
    } finally {
      await screen.close()
    }
    expect(readFileSync(file, 'utf8').includes('throughline.js')).toBe(code === 0)
  }
  await run('disconnect', 'codex', '--yes')
  expect(readFileSync(file, 'utf8')).toBe('model = "a"\n')
})
