import { field, list, number, object, parseJson, string } from '#base'
import { commands } from '#cli'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const main = join(root, 'dist/bin/throughline.js')

interface Result {
  readonly code: number | null
  readonly out: string
  readonly err: string
  readonly bytes: Buffer
}

let folder: string
beforeAll(async () => {
  if (!existsSync(main)) throw new Error('run `npm run build` first')
  folder = await mkdtemp(join(tmpdir(), 'throughline-cli-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs the built command line the way a person does: as a process of its own. */
async function throughline(
  args: readonly string[],
  options: {
    readonly scenario?: string
    readonly config?: string
    readonly env?: Record<string, string>
  } = {},
): Promise<Result> {
  const config = options.config ?? join(root, 'test/fixtures/claude', options.scenario ?? 'tui', 'config')
  return run(process.execPath, [main, ...args], { CLAUDE_CONFIG_DIR: config, ...options.env })
}

async function run(program: string, args: readonly string[], env: Record<string, string>): Promise<Result> {
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, THROUGHLINE_HOME: join(folder, 'home'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => out.push(piece))
  child.stderr.on('data', (piece: Buffer) => err.push(piece))
  const code = await new Promise<number | null>((done) => child.on('close', done))
  const bytes = Buffer.concat(out)
  return { code, out: bytes.toString(), err: Buffer.concat(err).toString(), bytes }
}

async function transcriptOf(scenario: string, id: string): Promise<Buffer> {
  const projects = join(root, 'test/fixtures/claude', scenario, 'config/projects')
  const [project] = await readdir(projects)
  return readFile(join(projects, project ?? '', `${id}.jsonl`))
}

/** A config folder with one session made of these lines. */
async function configWith(name: string, lines: readonly string[]): Promise<string> {
  const config = join(folder, name)
  await mkdir(join(config, 'projects/-w'), { recursive: true })
  await writeFile(
    join(config, 'projects/-w/aaaaaaaa-0000-4000-8000-000000000000.jsonl'),
    lines.map((line) => `${line}\n`).join(''),
  )
  return config
}

function promptLine(content: unknown, more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    type: 'user',
    uuid: crypto.randomUUID(),
    parentUuid: null,
    isSidechain: false,
    timestamp: '2026-01-12T14:03:11.000Z',
    cwd: '/w',
    sessionId: 'aaaaaaaa-0000-4000-8000-000000000000',
    version: '2.1.325',
    message: { role: 'user', content },
    ...more,
  })
}

const TUI = 'b5d57748-b031-482b-b564-f668155d7e1e'

describe('help and usage', () => {
  test('[CLI1] help says what it is and what it can do', async () => {
    const { code, out, err } = await throughline(['--help'])
    expect(out).toMatchInlineSnapshot(`
      "Throughline makes the sessions of coding agents durable.
      It finds and reads every transcript they leave behind, and changes none of them.

      Usage  throughline [command] [options]

      Commands
        ls          List sessions, most recently active first.
        show        Read a session in the terminal.
        check       Say what is wrong with a session, or with all of them, and what to do.
        export      Write a session as Markdown, as one HTML file, or as its own lines.
        search      Find words in everything that was said, thought, run and printed.
        usage       Count tokens, and what they cost.
        wake-up     Print what a session begun now would be told.
        remember    Remember something for the sessions to come.
        documents   List, show and change what is remembered.
        import      Bring in what another program remembered.
        rename      Give a session a name that stays.
        star        Mark a session.
        archive     Show what the archive keeps, and make it smaller.
        run         Start an agent, and show its answer as it comes.
        attach      Join a live session: read along, type prompts, answer.
        send        Give a live session a prompt.
        interrupt   Stop the turn of a live session. The session goes on.
        end         End a live session: the agent and everything it started.
        resume      Go on with a session, or with a copy of it.
        board       List the sessions that are run here, and those that wait for you.
        attentions  List what waits for you, or show one of them whole.
        answer      Answer what a session asks.
        audit       Read and verify the record of what an agent called and who allowed it.
        restore     Give the conversation as a provider takes it.
        repair      Mend what keeps a session from going on, on a copy.
        handoff     Hand a session to another machine, or take one in.
        compact     Shorten what a session takes of the window, and take it back.
        team        Share sessions with your other machines and with other people.
        continue    Go on here with a session of another machine.
        record      Run an agent, and record what it and the model say to each other.
        connect     Let an agent in any terminal ask what earlier sessions knew, and be answered from
                    any device.
        disconnect  Take away again what \`connect\` wrote.
        mcp         Speak the Model Context Protocol on standard input and output, for agents.
        start       Start the daemon in the background, or find the running one. \`throughline\` alone
                    does the same.
        serve       Run the daemon in this terminal.
        status      Say how the daemon is, who is live, and who waits for you.
        stop        Stop the daemon, and wait until it is gone.
        open        Open the running daemon in a browser.
        demo        Put sample sessions among yours, to have something to look at.
        logs        Print what the daemon logged.
        pair        Log another device in with a QR code, or a browser with a link.
        devices     List the devices that are logged in, or take one back.
        service     Start the daemon with your login: systemd or launchd.

      Examples
        throughline                                     start the daemon, open a browser
        throughline ls                                  every session, most recently active first
        throughline search flaky test                   where was that?
        throughline show 7d0c1f3e                       read one; the beginning of its id is enough
        throughline export 7d0c1f3e --out session.html  a page to keep or send
        throughline check                               is anything damaged?

      Environment
        THROUGHLINE_HOME         Throughline's own folder. Nothing is written outside of it, except
                                 where you say so. Default: ~/.throughline.
        CLAUDE_CONFIG_DIR        Where Claude Code keeps its sessions. They are only read; new ones
                                 are written by forks, \`repair\`, \`handoff import\` and \`resume --in
                                 claude\`, and \`connect\` puts a folder of ours among its skills.
                                 Default: ~/.claude.
        CODEX_HOME               Where Codex keeps its sessions. Only read, unless a session is to go
                                 on there. Default: ~/.codex.
        GEMINI_CLI_HOME          The folder in which Gemini CLI has its \`.gemini\`. Only read, unless a
                                 session is to go on there. Default: ~.
        XDG_DATA_HOME            The folder in which opencode has its \`opencode\`. Only read, unless a
                                 session is to go on there. Default: ~/.local/share.
        ALLOWED_ROOTS            Folders, separated like PATH. Sessions that worked anywhere else are
                                 not shown. Default: everything.
        THROUGHLINE_ARCHIVE      With \`off\` the daemon keeps no transcripts that agents delete.
                                 Default: on.
        THROUGHLINE_STORE        The database of a team: \`postgres://user:password@host/database\`.
                                 \`store\` in \`config.json\` says the same. Default: on this machine.
        NO_COLOR                 Set to anything: no colours. Default: colours only in a terminal.
        FORCE_COLOR              Set to anything but 0: colours also in a pipe.
        TERM                     Set to dumb by terminals that know no colours.
        COLUMNS                  How wide a line may be. Default: the width of the terminal, else 100.
        DISPLAY                  Set, as is WAYLAND_DISPLAY, where a browser can be opened. On Linux
                                 only.
        WAYLAND_DISPLAY          See DISPLAY.
        XDG_CONFIG_HOME          Where \`service install\` puts its unit, systemd/user below it, and
                                 where opencode has its settings. Default: ~/.config.
        XDG_STATE_HOME           Where opencode says which model was used last. Default:
                                 ~/.local/state.
        OPENCODE_CONFIG          More settings of opencode: a session that is written for it goes on
                                 with the model they name.
        OPENCODE_CONFIG_CONTENT  The settings of opencode themselves.
        HOME                     The folder of the person: \`~\` everywhere here.
        CLAUDE_CODE_SESSION_ID   Set by Claude Code: the session in which \`mcp\` remembers something.
        ANTHROPIC_BASE_URL       Where \`record\` passes requests for Anthropic on to; the command sees
                                 the address of the proxy.
        OPENAI_BASE_URL          The same for OpenAI.
        GOOGLE_GEMINI_BASE_URL   The same for Gemini.
        NODE_EXTRA_CA_CERTS      Certificates of further authorities, as for any program of Node.
        NO_PROXY                 What is asked directly. Where a proxy is set, \`record\` adds this
                                 machine to it for the command.
        no_proxy                 See NO_PROXY.
        ENTIRE_REPO_ROOT         Set by Entire: the repository for which \`entire-agent-throughline\` is
                                 asked.
        VISUAL                   The editor in which the input of a tool is changed before it runs.
                                 Default: EDITOR.
        EDITOR                   See VISUAL. Without either it is typed as a line.
        THROUGHLINE_DEBUG        Set to 1 to see where an unexpected error came from.

      Run \`throughline <command> --help\` for its options.
      "
    `)
    expect([code, err]).toEqual([0, ''])
    expect((await throughline(['help'])).out).toBe(out)
  })

  test.each(commands.map(({ name }) => name))('[CLI1] %s explains itself', async (command) => {
    const { code, out } = await throughline([command, '--help'])
    expect(code).toBe(0)
    expect(out).toContain(`throughline ${command} `)
    expect(out).toMatch(/Options\n[^]*Examples\n/)
    expect(out).toContain('--json')
    expect((await throughline(['help', command])).out).toBe(out)
  })

  test('[CLI47] an old Node is told which one is needed, and no stack of its loader', async () => {
    const preload = join(folder, 'old-node.mjs')
    await writeFile(
      preload,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.18.3' } })\n",
    )
    const { code, out, err } = await throughline(['ls'], {
      env: { NODE_OPTIONS: `--import=${pathToFileURL(preload).href}` },
    })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(
      /^error: Throughline needs Node 20\.19 or later; this is Node 20\.18\.3 \(.+\)\nnext: Install .+\n$/,
    )
    const pkg = parseJson(await readFile(join(root, 'package.json'), 'utf8'))
    expect(string(object(pkg, 'engines'), 'node')).toBe('>=20.19')
    // What is asked first must link in the oldest Node there is: it imports nothing before it has looked.
    const entry = await readFile(join(root, 'dist/bin/throughline.js'), 'utf8')
    expect(entry).not.toMatch(/^\s*import\b(?!\()/m)
  })

  test('[CLI2] --version prints the version of the package', async () => {
    const version = string(parseJson(await readFile(join(root, 'package.json'), 'utf8')), 'version')
    expect(await throughline(['--version'])).toMatchObject({ code: 0, out: `${version}\n` })
  })

  test.each([
    [['sho'], 'error: there is no command "sho"\nnext: Did you mean `throughline show`?\n'],
    [
      ['frobnicate'],
      'error: there is no command "frobnicate"\nnext: Run `throughline --help` to see all commands.\n',
    ],
    [['ls', '--workdri', '.'], 'error: there is no option "--workdri"\nnext: Did you mean `--workdir`?\n'],
    [
      ['--colour'],
      'error: there is no option "--colour"\nnext: Run `throughline --help` to see all options.\n',
    ],
    [
      ['search'],
      'error: search needs a query\nnext: Run `throughline search --help` to see how it is used.\n',
    ],
    [
      ['service', 'instal'],
      'error: service cannot "instal"\nnext: Did you mean `throughline service install`?\n',
    ],
    [['show'], 'error: show needs a session\nnext: Run `throughline ls` to see what there is.\n'],
    [
      ['show', 'a', 'b'],
      'error: "b" is one word too many\nnext: Put words that belong together in quotes.\n',
    ],
    [
      ['ls', '--limit', 'many'],
      'error: --limit must be a whole number above zero, not "many"\nnext: Run `throughline ls --help` to see how it is used.\n',
    ],
    [
      ['ls', '--limit'],
      'error: --limit needs a value\nnext: Run `throughline ls --help` to see how it is used.\n',
    ],
    [['ls', '--live=bsy'], 'error: --live cannot be "bsy"\nnext: Did you mean `--live busy`?\n'],
    [
      ['ls', '--full=yes'],
      'error: --full takes no value\nnext: Run `throughline ls --help` to see how it is used.\n',
    ],
    [
      ['export', 'b5d5', '--out', 'page.txt'],
      'error: the name "page.txt" does not say which format to write\nnext: Add --format md, html or jsonl, or end the name with .md, .html or .jsonl.\n',
    ],
  ])('[CLI3] %j is not understood, and it says what would be', async (args, message) => {
    expect(await throughline(args)).toMatchObject({ code: 2, out: '', err: message })
  })
})

async function countOf(...args: readonly string[]): Promise<number> {
  const { out } = await throughline(['ls', '--json', ...args], { scenario: 'slug' })
  return list(parseJson(out), 'sessions').length
}

describe('ls', () => {
  test('[CLI4] lists what is there, newest first, in lines that fit', async () => {
    for (const columns of [40, 60, 80, 120]) {
      const { code, out } = await throughline(['ls'], { scenario: 'slug', env: { COLUMNS: String(columns) } })
      expect(code).toBe(0)
      const lines = out.trimEnd().split('\n')
      expect(lines).toHaveLength(16)
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
    }
    const { out } = await throughline(['ls', '--json'], { scenario: 'slug' })
    const times = list(parseJson(out), 'sessions').map((session) => string(session, 'lastActivityAt') ?? '')
    expect(times).toEqual(times.toSorted().toReversed())
  })

  test('[CLI4] --full adds counts, tokens, damage and a line of totals', async () => {
    const { out } = await throughline(['ls', '--full'], { scenario: 'torn', env: { COLUMNS: '120' } })
    expect(out).toMatch(/prompts +turns +tokens +damage/)
    expect(out).toMatch(/\n1 session · 24 kB · [\d.k]+ tokens \(/)
  })

  test('[CLI5] filters by text, folder, number and life', async () => {
    expect(await countOf()).toBe(15)
    expect(await countOf('--limit', '3')).toBe(3)
    expect(await countOf('--workdir', '/home/user/work/slug/repo')).toBeGreaterThan(0)
    expect(await countOf('--workdir', '/home/user/work/slug/rep')).toBe(0)
    expect(await countOf('8b68a444')).toBe(1)
    expect(await countOf('--text', '8B68A444')).toBe(1)
    expect(await countOf('--live')).toBe(0)
    expect(await countOf('--live', 'busy', '--full')).toBe(0)
  })

  test('[CLI6] --json gives every field, null where nobody knows', async () => {
    const answer = parseJson((await throughline(['ls', '--json'])).out)
    expect(list(answer, 'sessions')[0]).toMatchObject({
      id: TUI,
      agent: 'claude',
      name: 'Tui session',
      size: 66_784,
      facts: null,
      live: null,
      problem: null,
      archived: false,
    })
    expect([field(answer, 'usage'), field(answer, 'problems')]).toEqual([null, []])
  })

  test('[CLI7] an empty list says where it looked and what to try', async () => {
    const empty = join(folder, 'nothing')
    await mkdir(join(empty, 'projects'), { recursive: true })
    const { code, out, err } = await throughline(['ls'], { config: empty })
    expect([code, out]).toEqual([0, ''])
    expect(err).toContain('No sessions found.\nnote: looked in ~/nothing/projects, and where Codex')
    expect(err).toContain('`throughline demo --sandbox` has samples')
    expect((await throughline(['ls', 'no such words'])).err).toContain('No session matches.\n')
  })
})

describe('show', () => {
  test('[CLI8] finds a session by id, by the beginning of its id, and by name', async () => {
    const whole = await throughline(['show', TUI])
    expect(whole.code).toBe(0)
    expect(whole.out).toMatch(/^Tui session\n/)
    expect(whole.out).toContain(
      '▌ [[editflow]] edit\n\n▸ Read edit-me.txt\n▸ Edit edit-me.txt (+1 −1)\n▸ Write new-file.txt (1 line)\n',
    )
    expect((await throughline(['show', 'b5d57'])).out).toBe(whole.out)
    expect((await throughline(['show', 'Tui session'])).out).toBe(whole.out)
    // A part of a name is enough to read, which is said, and for nothing else.
    const part = await throughline(['show', 'tui ses'])
    expect(part).toMatchObject({ code: 0, out: whole.out })
    expect(part.err).toBe('note: "tui ses" is part of the name of b5d57748: Tui session\n')
    for (const command of ['star', 'export', 'repair', 'end', 'audit']) {
      const { code, out, err } = await throughline([command, 'ui s'])
      expect([command, code, out]).toEqual([command, 1, ''])
      if (command !== 'audit') expect(err).toContain(`Similar names: ${TUI} (Tui session).`)
    }
  })

  test('[CLI8] --full unfolds calls and subagents', async () => {
    const { out } = await throughline(['show', '64d3', '--full'], { scenario: 'subagent' })
    expect(out).toMatch(
      /▸ Agent general-purpose: Look at file\n[^]* {2}╭ general-purpose, 19 kB\n[^]*│ ▸ Read hello.txt\n {2}│ {5}1 {4}hello world\n[^]* {2}╰\n/,
    )
  })

  test('[CLI9] --raw gives the bytes of the file, damaged ones included', async () => {
    const { bytes } = await throughline(['show', '2d4f', '--raw'], { scenario: 'torn' })
    expect(hash(bytes)).toBe(hash(await transcriptOf('torn', '2d4f005c-4cdb-4587-b454-12b1fd1dc5e0')))
    const tail = (await throughline(['show', '2d4f', '--raw', '--last', '2'], { scenario: 'torn' })).bytes
    expect(bytes.subarray(-tail.length).equals(tail)).toBe(true)
    expect(tail.toString().trimEnd().split('\n')).toHaveLength(2)
  })

  test('[CLI10] --json gives one entry per line, with its place and without its bytes', async () => {
    const { out } = await throughline(['show', '2d4f', '--json'], { scenario: 'torn' })
    const readings = out.trimEnd().split('\n').map(parseJson)
    expect(number(object(object(readings[0], 'entry'), 'place'), 'offset')).toBe(0)
    expect(readings.some((reading) => field(field(reading, 'entry'), 'raw') !== undefined)).toBe(false)
    expect(readings.filter((reading) => string(reading, 'kind') === 'damage')).toEqual([
      { kind: 'damage', damage: { offset: 18_379, length: 213, reason: 'torn' } },
    ])
  })

  test('[CLI11] --last shows the end', async () => {
    const { out } = await throughline(['show', TUI, '--last', '4'])
    expect(out).toContain('queued reply')
    expect(out).not.toContain('hello tui')
    expect(
      (await throughline(['show', TUI, '--json', '--last', '4'])).out.trimEnd().split('\n'),
    ).toHaveLength(4)
  })

  test('[CLI12] --view model shows what is left after a compaction', async () => {
    const file = await throughline(['show', '7cba'], { scenario: 'compact_manual' })
    const model = await throughline(['show', '7cba', '--view', 'model'], { scenario: 'compact_manual' })
    expect(file.out).toContain('[[multi]] first turn\n\n▸')
    expect(model.out).not.toContain('All done: first part.')
    expect(model.out).toContain('answer three')
  })

  test('[CLI20] bytes of a transcript are not written to a terminal', async () => {
    const { out } = await inTerminal(['show', TUI, '--raw'])
    expect(out).toContain('the bytes of a transcript are not written to a terminal')
    expect((await throughline(['show', TUI, '--raw', '--json'])).code).toBe(2)
  })
})

describe('check', () => {
  test('[CLI13] damage gives exit 1, its place and a next step', async () => {
    const { code, out } = await throughline(['check', '2d4f'], { scenario: 'torn' })
    expect(code).toBe(1)
    expect(out).toMatch(/^2d4f005c {2}.*\n[^]* {2}error {4}.*\(torn\) at\s+byte 18,379\n {11}→ .+\n/)
    expect(out).toMatch(/\n1 session checked, 1 error, \d+ warnings?, \d+ notes?\n$/)
    const json = parseJson((await throughline(['check', '--json'], { scenario: 'torn' })).out)
    expect(number(json, 'error')).toBe(1)
    expect(list(list(json, 'sessions')[0], 'findings')).toContainEqual(
      expect.objectContaining({ severity: 'error', code: 'torn', offset: 18_379, length: 213 }),
    )
  })

  test('[CLI13] nothing worse than a warning gives exit 0', async () => {
    expect(await throughline(['check'], { scenario: 'multi' })).toMatchObject({ code: 0, err: '' })
  })
})

describe('export', () => {
  test('[CLI9] jsonl is the transcript, byte for byte', async () => {
    for (const [scenario, id] of [
      ['tui', TUI],
      ['torn', '2d4f005c-4cdb-4587-b454-12b1fd1dc5e0'],
    ] as const) {
      const { bytes } = await throughline(['export', id, '--format', 'jsonl'], { scenario })
      expect(hash(bytes)).toBe(hash(await transcriptOf(scenario, id)))
    }
  })

  test('[CLI14] writes what the name says, for its owner only, and never over something', async () => {
    const out = join(folder, 'page.html')
    expect(await throughline(['export', TUI, '--out', out])).toMatchObject({ code: 0, out: '' })
    const first = await readFile(out, 'utf8')
    expect(first).toMatch(
      /^<!doctype html>[^]*<h1 dir="auto">Tui session<\/h1>[^]*<dt>Model<\/dt>[^]*<\/html>\n$/,
    )
    expect((await stat(out)).mode & 0o777).toBe(0o600)
    expect(await throughline(['export', TUI, '--out', out, '--format', 'md'])).toMatchObject({
      code: 1,
      err: `error: ${out} is already there\nnext: Choose another name, or add --force to replace it.\n`,
    })
    expect(await readFile(out, 'utf8')).toBe(first)
    expect((await throughline(['export', TUI, '--out', out, '--format', 'md', '--force'])).code).toBe(0)
    expect(await readFile(out, 'utf8')).toMatch(/^# Tui session\n/)
    expect((await stat(out)).mode & 0o777).toBe(0o600)
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('[CLI14] without --out it goes to standard output, as Markdown', async () => {
    const { code, out, err } = await throughline(['export', TUI])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(
      /^# Tui session\n[^]*<details><summary><b>Bash<\/b> <code>touch tuifile<\/code><\/summary>/,
    )
  })

  test('[CLI14] a folder that is not there is said in words', async () => {
    const { code, err } = await throughline(['export', TUI, '--out', join(folder, 'no/such/page.html')])
    expect(code).toBe(1)
    expect(err).toMatch(/^error: cannot write .*no such file or folder\nnext: Check that the folder exists/)
  })
})

describe('manners', () => {
  test('[CLI15] an error is one sentence and a next step, or JSON', async () => {
    const { code, out, err } = await throughline(['show', 'nowhere'])
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^error: .+\nnext: .+\n$/)
    const json = await throughline(['show', 'nowhere', '--json'])
    expect(json.code).toBe(1)
    expect(JSON.parse(json.err)).toEqual({
      error: { code: 'session-not-found', message: expect.any(String), hint: expect.any(String) },
    })
    expect(JSON.parse((await throughline(['ls', '--jsn', '--json'])).err)).toMatchObject({
      error: { code: 'bad-usage' },
    })
  })

  test('[CLI15] a setting that cannot be used is an error too', async () => {
    expect(await throughline(['ls'], { env: { ALLOWED_ROOTS: 'relative' } })).toMatchObject({
      code: 1,
      err: expect.stringContaining('error: ALLOWED_ROOTS'),
    })
  })

  test('[CLI17] no colours in a pipe, unless they are asked for', async () => {
    expect((await throughline(['show', TUI])).out).not.toContain('\u001b')
    expect((await throughline(['show', TUI], { env: { FORCE_COLOR: '1' } })).out).toContain('\u001b[1;34m')
    expect((await inTerminal(['show', TUI])).out).toContain('\u001b[1;34m')
    expect((await inTerminal(['show', TUI], { NO_COLOR: '1' })).out).not.toContain('\u001b[1;34m')
  })

  test('[CLI18] a reader that goes away ends it quietly', async () => {
    const config = await configWith(
      'long',
      Array.from({ length: 4000 }, (_, line) => promptLine(`${line} ${'word '.repeat(200)}`)),
    )
    for (const command of ['show aaaa', 'show aaaa --json', 'show aaaa --raw', 'export aaaa --format html']) {
      const { out, err } = await run(
        'bash',
        [
          '-c',
          `set -o pipefail; "${process.execPath}" "${main}" ${command} | head -n 1 | wc -l; echo "$? \${PIPESTATUS[0]}"`,
        ],
        { CLAUDE_CONFIG_DIR: config },
      )
      expect(out).toBe('1\n0 0\n')
      expect(err).toBe('')
    }
  })

  test('[CLI19] nothing in a transcript reaches the terminal as a control', async () => {
    const evil = '\u001b[2J\u001b]52;c;AA\u0007\u009b31m\u0000\u0008\u202e\r\u007f\u200b'
    const config = await configWith('evil', [
      promptLine(`hi ${evil}`, { cwd: `/w${evil}`, gitBranch: evil }),
      JSON.stringify({
        type: 'custom-title',
        customTitle: `name ${evil}`,
        sessionId: 'aaaaaaaa-0000-4000-8000-000000000000',
      }),
      `{"type":"${evil}`,
    ])
    for (const args of [
      ['ls'],
      ['ls', '--full'],
      ['ls', '--json'],
      ['ls', evil],
      ['show', 'aaaa'],
      ['show', 'aaaa', '--full'],
      ['show', 'aaaa', '--json'],
      ['check'],
      ['check', '--json'],
      ['export', 'aaaa'],
      ['export', 'aaaa', '--format', 'html'],
      ['show', `x${evil.replace('\u0000', '')}`],
      [`x${evil.replace('\u0000', '')}`],
    ]) {
      const { out, err } = await throughline(
        args.map((arg) => arg.replaceAll('\u0000', '')),
        { config },
      )
      expect((out + err).match(/[^\n\t\u0020-\u007e\u00a0-\u200a\u2010-\u2027\u202f-\ufffe]/u)).toBeNull()
    }
  })

  test('[CLI16] the unexpected is one line, and where it came from only on demand', async () => {
    const config = join(folder, 'broken')
    await cp(join(root, 'test/fixtures/claude/tui/config'), config, { recursive: true })
    // A module that breaks reading stands for every error nobody thought of.
    const preload = join(folder, 'preload.cjs')
    await writeFile(preload, `JSON.stringify = () => { throw new TypeError('out of the blue') }`)
    const env = { NODE_OPTIONS: `--require ${preload}` }
    const quiet = await throughline(['ls', '--json'], { config, env })
    expect(quiet).toMatchObject({
      code: 1,
      err: 'error: something unexpected happened: out of the blue\nnext: run it again with THROUGHLINE_DEBUG=1 and report what it prints.\n',
    })
    expect(
      (await throughline(['ls', '--json'], { config, env: { ...env, THROUGHLINE_DEBUG: '1' } })).err,
    ).toMatch(/\n {4}at /)
  })

  test('[CLI21] a session larger than the memory it may use is exported', async () => {
    const config = await configWith('huge', [])
    const file = await open(join(config, 'projects/-w/aaaaaaaa-0000-4000-8000-000000000000.jsonl'), 'w')
    const words = 'all work and no play '.repeat(1000)
    // Every day a smaller one, with less memory.
    const [lines, memory] = process.env['RUNS'] === 'full' ? [6000, 96] : [3500, 64]
    for (let line = 0; line < lines; line++) await file.write(`${promptLine(`${line} ${words}`)}\n`)
    const { size } = await file.stat()
    await file.close()
    expect(size).toBeGreaterThan(memory * 1.1e6)
    for (const args of [
      ['show', 'aaaa', '--full'],
      ['export', 'aaaa', '--format', 'html'],
      ['export', 'aaaa', '--format', 'jsonl'],
    ]) {
      const out = join(folder, 'huge.out')
      // The reader sleeps first: without back-pressure everything would pile up meanwhile.
      const { err } = await run(
        'bash',
        [
          '-c',
          `set -o pipefail; "${process.execPath}" --max-old-space-size=${memory} "${main}" ${args.join(' ')} | (sleep 1; cat > "${out}")`,
        ],
        { CLAUDE_CONFIG_DIR: config },
      )
      expect(err).toBe(args.includes('jsonl') ? NOT_SEARCHED : '')
      expect((await stat(out)).size).toBeGreaterThan(memory * 1.1e6)
    }
    await rm(join(folder, 'huge.out'))
  })
})

const NOT_SEARCHED =
  'warning: the copy was not searched to its end. Secrets in it are not masked. To pass it on, use md or html.\n'

/** The same in a terminal of its own, where standard output and standard error are one. */
async function inTerminal(args: readonly string[], env: Record<string, string> = {}): Promise<Result> {
  const line = [process.execPath, main, ...args].map((word) => `'${word}'`).join(' ')
  const config = join(root, 'test/fixtures/claude/tui/config')
  return run('script', ['-qec', line, '/dev/null'], { CLAUDE_CONFIG_DIR: config, TERM: 'xterm', ...env })
}

function hash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
