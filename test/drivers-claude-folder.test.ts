import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClaudeDriver, readFolderSettings, type StartOptions } from '#drivers'
import { play, type Played } from '#testing'
import { CLAUDE, openClaudePlace, type ClaudePlace } from './drivers-claude-place.ts'

let place: ClaudePlace
let touched: string
let played: Played[]

beforeEach(async () => {
  place = await openClaudePlace()
  touched = join(place.root, 'touched')
  mkdirSync(touched)
  played = []
})
afterEach(async () => {
  for (const one of played) await one.agent.close()
  await place.close()
})

async function begin(options: Partial<StartOptions>, executable: string = CLAUDE): Promise<Played> {
  const one = await play({ ...place, driver: createClaudeDriver({ executable }) }, options)
  played.push(one)
  return one
}

function put(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
}

/** A program that leaves a file behind when it runs. */
function marker(name: string): string {
  const path = join(place.root, 'programs', `${name}.sh`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\ntouch '${join(touched, name)}'\n`, { mode: 0o755 })
  return path
}

/** Everything that a folder can bring along, each with a mark of its own. */
function fill(folder: string, mark: string): void {
  const hook = (name: string): unknown => [
    { hooks: [{ type: 'command', command: marker(`${mark}.${name}`) }] },
  ]
  const at = (name: string): string => join(folder, name)
  put(at('.claude/settings.json'), {
    enableAllProjectMcpServers: true,
    permissions: { allow: ['Bash(touch:*)'], defaultMode: 'bypassPermissions' },
    hooks: { SessionStart: hook('settings-start'), PreToolUse: hook('settings-tool') },
    statusLine: { type: 'command', command: marker(`${mark}.settings-status`) },
  })
  put(at('.claude/settings.local.json'), {
    permissions: { allow: ['Bash(touch:*)'] },
    hooks: { SessionStart: hook('local-start'), UserPromptSubmit: hook('local-prompt') },
  })
  put(at('.mcp.json'), { mcpServers: { [`server-${mark}`]: { command: marker(`${mark}.mcp`) } } })
  const texts = {
    'CLAUDE.md': 'memory',
    'CLAUDE.local.md': 'localmemory',
    '.claude/CLAUDE.md': 'dotmemory',
    '.claude/rules/r.md': 'rule',
  }
  for (const [name, what] of Object.entries(texts)) put(at(name), `canary.${mark}.${what}`)
  const described = {
    [`.claude/agents/agent-${mark}.md`]: 'agent',
    [`.claude/commands/command-${mark}.md`]: 'command',
    [`.claude/skills/skill-${mark}/SKILL.md`]: 'skill',
  }
  for (const [name, what] of Object.entries(described)) {
    put(at(name), `---\nname: ${what}-${mark}\ndescription: canary.${mark}.${what}\n---\nNothing.`)
  }
}

/** Which file a mark belongs to. */
function fileOf(found: string): string {
  const [, mark = '', what = ''] = /^(?:canary\.)?([a-z]+)\.([a-z-]+)$/.exec(found) ?? []
  const files: Readonly<Record<string, string>> = {
    'settings-start': '.claude/settings.json',
    'settings-tool': '.claude/settings.json',
    'settings-status': '.claude/settings.json',
    'local-start': '.claude/settings.local.json',
    'local-prompt': '.claude/settings.local.json',
    mcp: '.mcp.json',
    memory: 'CLAUDE.md',
    localmemory: 'CLAUDE.local.md',
    dotmemory: '.claude/CLAUDE.md',
    rule: '.claude/rules/r.md',
    agent: `.claude/agents/agent-${mark}.md`,
    command: `.claude/commands/command-${mark}.md`,
    skill: `.claude/skills/skill-${mark}/SKILL.md`,
  }
  return `${mark}:${files[what] ?? what}`
}

/** What took effect: programs that ran, and texts that reached the model. */
function effects(): readonly string[] {
  const said = JSON.stringify(place.api.requests).match(/canary\.[a-z]+\.[a-z]+/g) ?? []
  return [...new Set([...readdirSync(touched), ...said].map(fileOf))].toSorted((a, b) => (a < b ? -1 : 1))
}

const canTrace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0

describe('[TRU6] [DRV40] before a person trusted the folder', () => {
  test('no program of it runs, no rule of it holds, and no word of it is heard; and all of that after', async () => {
    const { workdir, root } = place
    execFileSync('git', ['init', '-q'], { cwd: workdir })
    execFileSync('git', ['config', 'core.fsmonitor', marker('git.fsmonitor')], { cwd: workdir })
    for (const name of ['post-index-change', 'post-checkout', 'pre-auto-gc', 'reference-transaction']) {
      writeFileSync(join(workdir, '.git/hooks', name), `#!/bin/sh\n${marker(`git.${name}`)}\n`, {
        mode: 0o755,
      })
    }
    fill(workdir, 'work')
    // That somebody once said yes in a terminal is no yes here.
    put(join(place.configDir, '.claude.json'), { projects: { [workdir]: { hasTrustDialogAccepted: true } } })
    const trace = join(root, 'trace')
    const traced = join(root, 'traced-claude')
    writeFileSync(
      traced,
      `#!/bin/sh\nexec strace -f -qq -s 4096 -e trace=execve -o '${trace}' '${CLAUDE}' "$@"\n`,
      {
        mode: 0o755,
      },
    )

    const stranger = await begin({ workdir }, canTrace ? traced : CLAUDE)
    const turn = stranger.say('[[tool Bash {"command":"touch ran"}]]')
    const { answer } = await stranger.nextAsk()
    answer({ kind: 'deny' })
    await turn
    await stranger.agent.close()
    expect(effects()).toEqual([])
    expect(existsSync(join(workdir, 'ran'))).toBe(false)
    if (canTrace) {
      const ran = readFileSync(trace, 'utf8')
        .split('\n')
        .filter((line) => / execve\("/.test(line))
      expect(ran.length).toBeGreaterThan(0)
      expect(ran.filter((line) => line.includes(join(root, 'programs')))).toEqual([])
      expect(ran.filter((line) => line.includes(`execve("${workdir}`))).toEqual([])
    }

    const friend = await begin({ workdir, trusted: true })
    await friend.say('[[tool Bash {"command":"touch ran"}]]')
    await friend.agent.close()
    expect(friend.openAsks()).toEqual([])
    expect(existsSync(join(workdir, 'ran'))).toBe(true)
    const files = ['.claude/settings.json', '.claude/settings.local.json', '.mcp.json', 'CLAUDE.md']
    expect(effects()).toEqual(expect.arrayContaining(files.map((file) => `work:${file}`)))
  })
})

describe('[TRU7] whatever takes effect in a folder that is trusted is listed before', () => {
  async function compare(
    workdir: string,
    folders: Readonly<Record<string, string>>,
  ): Promise<readonly string[]> {
    for (const [mark, folder] of Object.entries(folders)) fill(folder, mark)
    const { files } = await readFolderSettings(workdir)
    const paths = new Set(files.map(({ path }) => path))
    const one = await begin({ workdir, trusted: true })
    await one.say('[[tool Bash {"command":"touch ran"}]]')
    await one.agent.close()
    const happened = effects()
    const unlisted = happened.filter((found) => {
      const [mark = '', file = ''] = found.split(':')
      return !paths.has(relative(workdir, join(folders[mark] ?? '', file)))
    })
    expect(unlisted).toEqual([])
    return happened
  }

  test('in a repository, below its root and above it', async () => {
    const above = join(place.root, 'above')
    const deep = join(above, 'repo/mid/deep')
    mkdirSync(deep, { recursive: true })
    execFileSync('git', ['init', '-q'], { cwd: join(above, 'repo') })
    const happened = await compare(deep, {
      above,
      repo: join(above, 'repo'),
      mid: join(above, 'repo/mid'),
      deep,
    })
    // What is read above is more than one would think.
    expect(happened).toEqual(
      expect.arrayContaining(['above:.mcp.json', 'above:CLAUDE.md', 'repo:.claude/settings.local.json']),
    )
    expect(happened).toContain('mid:.claude/agents/agent-mid.md')
  })

  test('outside of any', async () => {
    const above = join(place.root, 'above')
    const deep = join(above, 'deep')
    mkdirSync(deep, { recursive: true })
    expect(await compare(deep, { above, deep })).toContain('above:.claude/agents/agent-above.md')
  })

  test('in a worktree', async () => {
    const repo = join(place.root, 'repo')
    const tree = join(place.root, 'trees/tree')
    mkdirSync(repo)
    const git = (...args: readonly string[]): void => {
      execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e@example.org', ...args], { cwd: repo })
    }
    git('init', '-q')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    git('worktree', 'add', '-q', tree)
    expect(await compare(tree, { repo, tree })).toContain('tree:.claude/settings.json')
  })
})
