import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openModelApi, openTempDir, type ModelApi, type TempDir } from '#testing'
import { QUIET_CLAUDE } from '../drivers-claude-place.ts'

const root = join(import.meta.dirname, '..', '..')
const run = promisify(execFile)
const HANG = 120_000

let dir: TempDir
let api: ModelApi

/** A project that has the packages of the examples installed. */
beforeAll(async () => {
  dir = await openTempDir()
  api = await openModelApi(() => [{ kind: 'text', text: 'A scripted aside' }])
  // What is published is what is in `dist`.
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b', 'src/recorder'], {
    cwd: root,
  }).catch(() => {})
  const modules = join(dir.path, 'node_modules')
  await mkdir(modules)
  await symlink(root, join(modules, 'throughline'))
  for (const name of ['@anthropic-ai', '@ai-sdk', '@openai', 'ai', 'openai'])
    await symlink(join(root, 'node_modules', name), join(modules, name))
}, HANG)
afterAll(async () => {
  await api.close()
  await dir.remove()
})

const page = await readFile(join(root, 'docs/recording-agents.md'), 'utf8')
const examples = [...page.matchAll(/```js ([\w-]+)\n(.*?)```/gs)].map(([, name = '', code = '']) => ({
  name,
  code,
}))

test('[ADP11] there is an example for every adapter', () => {
  expect(examples.map(({ name }) => name)).toEqual(['anthropic', 'ai', 'agents', 'agent-sdk'])
})

test.each(examples)(
  '[ADP11] the example $name does what it says',
  async ({ name, code }) => {
    const cwd = join(dir.path, name)
    await mkdir(cwd)
    await writeFile(join(cwd, 'example.mjs'), code)
    const { stdout } = await run(process.execPath, ['example.mjs'], {
      cwd,
      env: {
        PATH: process.env['PATH'],
        HOME: cwd,
        TMPDIR: dir.path,
        THROUGHLINE_HOME: join(cwd, 'home'),
        ANTHROPIC_API_KEY: 'dummy',
        ANTHROPIC_BASE_URL: name === 'ai' ? `${api.url}/v1` : api.url,
        OPENAI_API_KEY: 'dummy',
        OPENAI_AGENTS_DISABLE_TRACING: '1',
        OPENAI_BASE_URL: `${api.url}/v1`,
        ...QUIET_CLAUDE,
      },
    })
    const text = await readFile(await onlyTranscript(cwd), 'utf8')
    expect(text).toContain('Say hello.')
    if (name === 'agent-sdk') expect(text).toContain(stdout.trim())
    else expect([stdout, text.includes('A scripted aside')]).toEqual(['A scripted aside\n', true])
  },
  HANG,
)

async function onlyTranscript(cwd: string): Promise<string> {
  const names = await readdir(cwd, { recursive: true })
  const found = names.filter(
    (name) => /(?:^|\/)(?:\.entire|home)\/.*\.jsonl$/.test(name) && !name.endsWith('.deleted'),
  )
  const transcripts = found.filter((name) => /full\.jsonl$|projects\/[^/]+\/[^/]+\.jsonl$/.test(name))
  expect(transcripts).toHaveLength(1)
  return join(cwd, transcripts[0] ?? '')
}
