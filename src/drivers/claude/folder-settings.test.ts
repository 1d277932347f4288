import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTempDir, runs } from '#testing'
import type { TempDir } from '#testing'
import { readFolderSettings } from './folder-settings.ts'

let dir: TempDir
let workdir: string
beforeEach(async () => {
  dir = await openTempDir()
  workdir = join(dir.path, 'work')
  mkdirSync(workdir)
})
afterEach(() => dir.remove())

function put(name: string, content: unknown, base = workdir): void {
  const path = join(base, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
}

const read = () => readFolderSettings(workdir)
const hashNow = async (): Promise<string> => (await read()).hash

describe('[TRU1] what a folder would load', () => {
  test('is told by what it does, whole, and what needs most care first', async () => {
    put('.claude/settings.json', {
      $schema: 'https://example.org/schema.json',
      hooks: {
        PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './check.sh --all' }] }],
        Stop: [{ hooks: [{ type: 'http', url: 'https://example.org/stop' }] }],
      },
      permissions: { allow: ['Bash(npm:*)'], deny: ['Read(x)'], defaultMode: 'bypassPermissions' },
      env: { ANTHROPIC_BASE_URL: 'https://example.org' },
      apiKeyHelper: './key.sh',
      statusLine: { type: 'command', command: './status.sh' },
      enableAllProjectMcpServers: true,
      enabledPlugins: { 'a@b': true },
      somethingNew: { deep: true },
    })
    put('.mcp.json', {
      mcpServers: {
        files: { command: 'npx', args: ['-y', 'files server'], env: { KEY: 'v' } },
        far: { type: 'http', url: 'https://example.org/mcp', headersHelper: './headers.sh' },
      },
    })
    put('.claude/commands/ship.md', '---\nallowed-tools: Bash(git push:*)\n---\nNow: !`git status`')
    put('CLAUDE.md', 'Be brief.')
    const { effects, files } = await read()
    expect(effects.map(({ kind, name, what, file }) => [kind, name, what, file])).toEqual([
      ['mode', 'permissions.defaultMode', 'bypassPermissions', '.claude/settings.json'],
      ['hook', 'PreToolUse(Bash)', './check.sh --all', '.claude/settings.json'],
      ['hook', 'Stop', 'http: https://example.org/stop', '.claude/settings.json'],
      ['mcp-server', 'files', 'KEY=v npx -y "files server"', '.mcp.json'],
      ['mcp-server', 'far', 'https://example.org/mcp {"headersHelper":"./headers.sh"}', '.mcp.json'],
      ['command', 'apiKeyHelper', './key.sh', '.claude/settings.json'],
      ['command', 'statusLine', './status.sh', '.claude/settings.json'],
      ['command', 'in .claude/commands/ship.md', 'git status', '.claude/commands/ship.md'],
      ['environment', 'ANTHROPIC_BASE_URL', 'https://example.org', '.claude/settings.json'],
      ['allow', 'permissions.allow', 'Bash(npm:*)', '.claude/settings.json'],
      [
        'allow',
        'enableAllProjectMcpServers',
        'every server of .mcp.json is started without being asked about',
        '.claude/settings.json',
      ],
      ['other', 'enabledPlugins', '{"a@b":true}', '.claude/settings.json'],
      ['other', 'somethingNew', '{"deep":true}', '.claude/settings.json'],
      [
        'other',
        'head of .claude/commands/ship.md',
        'allowed-tools: Bash(git push:*)',
        '.claude/commands/ship.md',
      ],
      ['instructions', 'CLAUDE.md', '9 bytes for the model', 'CLAUDE.md'],
      ['instructions', '.claude/commands/ship.md', '58 bytes for the model', '.claude/commands/ship.md'],
    ])
    expect(files.map(({ path }) => path)).toEqual([
      '.claude/commands/ship.md',
      '.claude/settings.json',
      '.mcp.json',
      'CLAUDE.md',
    ])
  })

  test('is nothing in an empty one, and of what lies above only what is read there', async () => {
    const root = join(dir.path, 'root')
    mkdirSync(join(root, 'sub'), { recursive: true })
    execFileSync('git', ['init', '-q'], { cwd: root })
    for (const base of [dir.path, root]) {
      put('.claude/settings.local.json', { permissions: { allow: ['Bash'] } }, base)
      put('.claude/agents/a.md', 'x', base)
      put('CLAUDE.md', 'x', base)
    }
    const { files } = await readFolderSettings(join(root, 'sub'))
    expect(files.map(({ path }) => path).filter((path) => !path.startsWith('../../../'))).toEqual([
      '../../CLAUDE.md',
      '../.claude/agents/a.md',
      '../.claude/settings.local.json',
      '../CLAUDE.md',
    ])
    expect((await readFolderSettings(workdir, { userDir: join(dir.path, '.claude') })).files).toMatchObject([
      { path: '../CLAUDE.md' },
    ])
  })

  test('is told of a worktree with what lies in the repository it belongs to', async () => {
    const main = join(dir.path, 'main')
    const tree = join(dir.path, 'elsewhere', 'tree')
    put('.claude/settings.local.json', { permissions: { allow: ['Bash'] } }, main)
    put('.git/worktrees/tree/HEAD', 'ref: refs/heads/tree\n', main)
    put('.git', `gitdir: ${main}/.git/worktrees/tree\n`, tree)
    const { effects } = await readFolderSettings(tree)
    expect(effects).toMatchObject([{ kind: 'allow', file: '../../main/.claude/settings.local.json' }])
  })
})

describe('[TRU2] the hash', () => {
  const settings = { hooks: { Stop: [{ hooks: [{ command: 'sh "$CLAUDE_PROJECT_DIR"/tools/stop.sh' }] }] } }

  test('is another one for every change, and the same again when it is undone', async () => {
    const names = [
      '.claude/settings.json',
      '.claude/settings.local.json',
      '.mcp.json',
      'CLAUDE.md',
      'CLAUDE.local.md',
      '.claude/CLAUDE.md',
      '.claude/agents/deep/er/a.md',
      '.claude/commands/c.md',
      '.claude/skills/s/SKILL.md',
      '.claude/skills/s/scripts/run.py',
      '.claude/output-styles/o.md',
      '.claude/rules/r.md',
      '.claude/hooks/h.sh',
      'tools/stop.sh',
      'docs/imported.md',
    ]
    const text = (name: string): string =>
      name === '.claude/settings.json' ? JSON.stringify(settings) : name
    const fill = (): void => {
      for (const name of names) put(name, text(name))
      put('CLAUDE.md', 'See @docs/imported.md, please.')
    }
    fill()
    const before = await hashNow()
    const change = fc.record({
      name: fc.constantFrom(...names),
      how: fc.constantFrom('append', 'remove', 'add'),
      letter: fc.constantFrom('a', ' ', '\n', '\0'),
    })
    await fc.assert(
      fc.asyncProperty(change, async ({ name, how, letter }) => {
        if (how === 'append') put(name, `${text(name)}${letter}`)
        if (how === 'remove') rmSync(join(workdir, name))
        if (how === 'add') put('.claude/agents/new.md', letter)
        expect(await hashNow()).not.toBe(before)
        rmSync(join(workdir, '.claude/agents/new.md'), { force: true })
        fill()
        expect(await hashNow()).toBe(before)
      }),
      runs(60),
    )
    put('src/main.ts', 'something that is not loaded')
    put('tools/other.sh', 'nor this')
    expect(await hashNow()).toBe(before)
  })
})

describe('[TRU3] whatever lies in a folder', () => {
  test('a link that leads out, or nowhere, or in a circle, is told', async () => {
    put('secret.md', 'outside', dir.path)
    mkdirSync(join(workdir, '.claude/skills'), { recursive: true })
    symlinkSync(join(dir.path, 'secret.md'), join(workdir, 'CLAUDE.md'))
    symlinkSync(join(dir.path, 'nowhere'), join(workdir, '.mcp.json'))
    symlinkSync('..', join(workdir, '.claude/skills/circle'))
    const before = await read()
    expect(before.files).toMatchObject([
      { path: '.mcp.json', problem: 'a link that leads nowhere' },
      { path: 'CLAUDE.md', bytes: 7, problem: `a link that leads to ${join(dir.path, 'secret.md')}` },
    ])
    expect(before.effects).toContainEqual(expect.objectContaining({ kind: 'other', name: 'CLAUDE.md' }))
    put('secret.md', 'other words', dir.path)
    expect(await hashNow()).not.toBe(before.hash)
  })

  test('what is too long or too much is named, and nobody waits for a pipe', async () => {
    execFileSync('mkfifo', [join(workdir, 'CLAUDE.md')])
    put('.claude/settings.json', { env: { LONG: 'x'.repeat(2_000) } })
    for (let n = 0; n < 8; n++) put(`.claude/skills/s${n}/SKILL.md`, 'x')
    const limits = { fileBytes: 1_000, files: 4, names: 1_000 }
    const { files, effects, hash } = await readFolderSettings(workdir, { limits })
    expect(files.filter(({ problem }) => problem !== undefined)).toMatchObject([
      { path: '.claude/settings.json', problem: 'too long to be read' },
      { path: 'CLAUDE.md', problem: 'not a file' },
      { path: '…', problem: '5 more files, which were not read' },
    ])
    expect(effects.filter(({ kind }) => kind === 'other')).toHaveLength(3)
    put('.claude/skills/s7/SKILL.md', 'xy')
    expect((await readFolderSettings(workdir, { limits })).hash).not.toBe(hash)
  })

  test('nothing makes reading it fail', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.json(), fc.string(), async (settings, servers, text) => {
        put('.claude/settings.json', settings)
        put('.claude/settings.local.json', `{"hooks":${settings},"permissions":${servers}}`)
        put('.mcp.json', `{"mcpServers":${servers}}`)
        put('CLAUDE.md', text)
        expect((await read()).files).toHaveLength(4)
      }),
      runs(100),
    )
  })
})
