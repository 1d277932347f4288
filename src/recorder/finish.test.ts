import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { finishRecordings } from './finish.ts'
import { findRecordings } from './layout.ts'
import { readRegister } from './register.ts'
import { linesOf, openPlace, textOf } from './fixtures/recording-place.ts'

describe('prompt.txt and context.md', () => {
  test('[REC14] prompt.txt has the first words of a user, is there with the first turn, and stays', async () => {
    const { record } = await openPlace()
    const recording = await record()
    await recording.user('  \n')
    expect(existsSync(join(recording.folder, 'prompt.txt'))).toBe(false)
    await recording.user([
      { type: 'text', text: 'first' },
      { type: 'text', text: 'words' },
    ])
    expect(await textOf(recording.folder, 'prompt.txt')).toBe('first\n\nwords')
    await recording.user('second')
    await recording.end()
    expect(await textOf(recording.folder, 'prompt.txt')).toBe('first\n\nwords')
  })

  test('[REC15] context.md says who it was, and has one line for each call of a tool, whatever is in it', async () => {
    const { record } = await openPlace()
    const recording = await record({ now: () => Date.UTC(2026, 1, 10, 23, 31) })
    await recording.user('go')
    const calls = [
      { name: 'read_file', input: { path: 'src/main.rs', limit: 3 } },
      { name: 'bash', input: { command: 'echo "a\nb"\u001b[31m\u2028c' } },
      { name: 'list', input: {} },
      { name: 'odd\n- **x**', input: { first: { nested: [1] } } },
      { name: 'long', input: { text: 'y'.repeat(5000) } },
    ]
    await recording.assistant({
      model: 'claude-opus-4-6',
      content: calls.map((call, n) => ({ type: 'tool_use', id: `t${n}`, ...call })),
    })
    await recording.end()
    expect((await textOf(recording.folder, 'context.md')).split('\n')).toEqual([
      '# Session Context',
      '',
      `**Session ID:** ${recording.sessionId}`,
      '**Agent:** forgeflare 0.0.44',
      '**Model:** claude-opus-4-6',
      '**Started:** 2026-02-10T23:31:00.000Z',
      '',
      '## Key Actions',
      '',
      '- **read_file**: src/main.rs',
      '- **bash**: echo "a b" [31m c',
      '- **list**',
      '- **odd - **x****: {"nested":[1]}',
      `- **long**: ${'y'.repeat(200)}…`,
      '',
    ])
  })
})

describe('what dead processes left behind', () => {
  /** A recording as a killed process leaves it: no `context.md`, and half a line at its end. */
  async function leaveBehind(place: Awaited<ReturnType<typeof openPlace>>): Promise<string> {
    const recording = await place.record({ register: false })
    await recording.user('the prompt')
    await recording.assistant({
      content: [{ type: 'tool_use', id: 't', name: 'Edit', input: { file_path: 'a' } }],
    })
    await recording.end()
    rmSync(join(recording.folder, 'context.md'))
    rmSync(join(recording.folder, 'prompt.txt'))
    await appendFile(recording.path, '{"type":"user","torn')
    writeFileSync(join(recording.folder, 'context.md.0123456789ab.tmp'), 'half')
    return recording.folder
  }

  test('[REC16] are finished from their lines, and no byte of them is lost', async () => {
    const place = await openPlace()
    const folder = await leaveBehind(place)
    const path = join(folder, 'full.jsonl')
    const before = readFileSync(path)
    expect(await finishRecordings(place.cwd)).toMatchObject([
      { folder, outcome: 'finished', mended: [path], wrote: ['prompt.txt', 'context.md'], swept: 0 },
    ])
    expect(await textOf(folder, 'prompt.txt')).toBe('the prompt')
    expect(await textOf(folder, 'context.md')).toContain('- **Edit**: a')
    expect(await linesOf(path)).toHaveLength(2)
    const torn = readdirSync(folder).filter((name) => name.includes('.torn-'))
    expect(Buffer.concat([readFileSync(path), readFileSync(join(folder, torn[0] ?? ''))])).toEqual(before)
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
    expect(await finishRecordings(place.cwd)).toMatchObject([{ outcome: 'finished', mended: [], wrote: [] }])
  })

  test('[REC16] what a process writes, and what others wrote, is left alone', async () => {
    const place = await openPlace()
    const recording = await place.record()
    await recording.user('busy')
    const foreign = join(place.cwd, '.entire', 'metadata', '2026-01-02-6a1d235a-bb58-40ea-a205-a76f5ad0f6f1')
    mkdirSync(foreign, { recursive: true })
    writeFileSync(join(foreign, 'full.jsonl'), '{"type":"user","sessionId":"6a1d235a"}\n{"torn')
    const before = statSync(join(foreign, 'full.jsonl'))
    expect(await finishRecordings(place.cwd)).toMatchObject([
      { sessionId: recording.sessionId, outcome: 'held' },
    ])
    expect(readdirSync(foreign)).toEqual(['full.jsonl'])
    expect(statSync(join(foreign, 'full.jsonl'))).toMatchObject({
      mtimeMs: before.mtimeMs,
      size: before.size,
    })
    expect(existsSync(join(recording.folder, 'context.md'))).toBe(false)
    await recording.end()
    expect(await findRecordings(place.cwd)).toEqual([recording.sessionId])
  })

  test('[REC17] the next recording in the folder finishes them', async () => {
    const place = await openPlace()
    const folder = await leaveBehind(place)
    const next = await place.record()
    await next.user('hello')
    await next.end()
    expect(await textOf(folder, 'prompt.txt')).toBe('the prompt')
    expect(await textOf(folder, 'context.md')).toContain('- **Edit**: a')
    expect(await linesOf(join(folder, 'full.jsonl'))).toHaveLength(2)
  })
})

describe('where recordings are noted', () => {
  test('[REC18] a folder is noted once, and that it cannot be disturbs nothing', async () => {
    const place = await openPlace()
    for (const recording of await Promise.all([place.record(), place.record(), place.record()])) {
      await recording.user('x')
      await recording.end()
    }
    expect(await readRegister(place.home)).toEqual([place.cwd])
    expect((await linesOf(join(place.home, 'recordings.jsonl'))).length).toBe(1)
    const blocked = join(place.cwd, 'file')
    writeFileSync(blocked, '')
    const recording = await place.record({ register: join(blocked, 'home') })
    await recording.user('x')
    await recording.end()
    expect(await readRegister(join(place.cwd, 'nowhere'))).toEqual([])
  })
})
