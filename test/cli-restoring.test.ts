import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { list, object, parseJson, string } from '#base'
import { createLines, findResponsesFaults, SESSION, toJsonl, writeTranscript } from '#testing'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openCliPlace, type CliPlace } from './cli-live-place.ts'

const fixtures = join(import.meta.dirname, 'fixtures')

let place: CliPlace
/** A session of twelve turns, of which the last call was never answered and one prompt is blank. */
let transcript: string
beforeAll(async () => {
  place = await openCliPlace()
  cpSync(join(fixtures, 'codex/tools'), join(place.path, '.codex'), { recursive: true })
  cpSync(join(fixtures, 'codex/thinking'), join(place.path, '.codex'), { recursive: true })
  cpSync(join(fixtures, 'gemini/tools'), join(place.path, '.gemini'), { recursive: true })
  const make = createLines({ cwd: place.workdir })
  const turns = Array.from({ length: 12 }, (_none, at) => [
    make.prompt(at === 4 ? ' ' : `Question ${at + 1}`),
    make.reply([{ type: 'tool_use', id: `toolu_${at}`, name: 'Bash', input: { command: 'ls' } }]),
    make.result(`toolu_${at}`, 'listed'),
    make.reply([{ type: 'text', text: `Answer ${at + 1}` }]),
  ]).flat()
  const call = { type: 'tool_use', id: 'toolu_last', name: 'Bash', input: { command: 'sleep 9' } }
  const lines = [...turns, make.prompt('And now?'), make.reply([call])]
  transcript = await writeTranscript(join(place.path, 'claude'), toJsonl(lines))
})
afterAll(() => place.close())

async function runShell(
  line: string,
  env: Record<string, string>,
): Promise<{ readonly code: number | null; readonly out: string }> {
  const child = spawn('sh', ['-c', line], { cwd: place.workdir, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (out += piece))
  const code = await new Promise<number | null>((done) => child.on('close', done))
  return { code, out }
}

const hash = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')
const names = (): readonly string[] => readdirSync(join(transcript, '..')).toSorted()

test('[CLI38] ls names the agents, tells ids apart that begin with the time, and filters by agent', async () => {
  const { out } = await place.run(['ls'])
  const rows = out.trimEnd().split('\n')
  expect(rows[0]).toMatch(/name\s+agent\s+workdir/)
  expect(rows.filter((row) => / codex /u.test(row))).toHaveLength(2)
  const ids = rows.slice(1).map((row) => row.split(/\s+/u).at(-1) ?? '')
  expect(new Set(ids).size).toBe(ids.length)
  // What is shown is enough to name it.
  for (const id of ids) expect((await place.run(['show', id])).code).toBe(0)
  const only = await place.json(['ls', '--agent', 'gemini'])
  expect(list(only, 'sessions').map((session) => string(session, 'agent'))).toEqual(['gemini'])
  // Where all are of one agent, nobody has to be told.
  expect((await place.run(['ls', '--agent', 'gemini'])).out).not.toMatch(/name\s+agent/)
})

test('[CLI39] check says what would fail the next request, where, and what mends it', async () => {
  const { out, code } = await place.run(['check', SESSION])
  expect(code).toBe(0)
  expect(out).toContain('text-empty')
  expect(out).toMatch(/at byte [\d,]+/)
  expect(out.replaceAll(/\s+/gu, ' ')).toContain(`throughline repair ${SESSION}`)
  const findings = list(list(await place.json(['check', SESSION]), 'sessions')[0], 'findings')
  expect(findings.map((finding) => string(finding, 'code'))).toEqual(
    expect.arrayContaining(['unanswered-call', 'text-empty']),
  )
})

test('[CLI40] [RED22] restore prints messages alone; what is lost goes beside it, and --json has everything', async () => {
  const { out, err, code } = await place.run(['restore', SESSION, '--to', 'openai-responses'])
  expect(code).toBe(0)
  const messages = parseJson(out)
  expect(findResponsesFaults(Array.isArray(messages) ? messages : [])).toEqual([])
  expect(err).toContain('not carried as they were')
  expect(err).toContain('The call of Bash was never answered.')
  expect(err).toContain('Secrets in it are as they were said.')
  const whole = await place.json(['restore', SESSION])
  expect(Object.keys(object({ whole }, 'whole') ?? {})).toEqual(
    expect.arrayContaining(['messages', 'turns', 'tokens', 'workdir', 'pending', 'losses', 'target']),
  )
  const refused = await place.run(['restore', SESSION, '--to', 'openai'])
  expect(refused).toMatchObject({ code: 2, out: '' })
  expect(refused.err).toContain('openai-')
})

test('[CLI40] [RST15] restore says what is missing of an answer that was torn, not that nothing is lost', async () => {
  const id = '0c0ffee0-0000-4000-8000-00000000007e'
  const make = createLines({ sessionId: id, cwd: place.workdir })
  const before = toJsonl([make.prompt('one'), make.reply([{ type: 'text', text: 'so' }]), make.prompt('two')])
  const torn = JSON.stringify(make.reply([{ type: 'text', text: 'lost' }])).slice(0, 200)
  const after = toJsonl([make.prompt('three', { parentUuid: '00000000-0000-4000-8000-000000000003' })])
  await writeTranscript(join(place.path, 'claude'), `${before}${torn}\n${after}`, { id })
  const { err } = await place.run(['restore', id])
  expect(err).not.toContain('Nothing is lost')
  expect(err).toContain(`200 bytes at byte ${String(Buffer.byteLength(before))}`)
})

test('[CLI41] repair only says what it would do with --dry-run, and else writes a copy', async () => {
  const [before, there] = [hash(transcript), names()]
  const dry = await place.run(['repair', SESSION, '--dry-run'])
  expect(dry.out).toMatch(/found\s+text-empty.*\n\s+→ It is left out\./)
  expect(dry.out).toMatch(/noted\s+call-unanswered/)
  expect(dry.err).toContain('1 problem would make resuming fail.')
  expect(dry.err).toContain('1 problem the agent puts right itself')
  expect(names()).toEqual(there)
  const { code, out, err } = await place.run(['repair', SESSION])
  expect(code).toBe(0)
  expect(out.match(/^mended/gmu)).toHaveLength(2)
  expect(err).toMatch(
    /The mended copy is [0-9a-f-]{36}\. The old session is as it was, and listed alone until something is said in the copy\.\nnext: claude --resume/,
  )
  expect(hash(transcript)).toBe(before)
  expect(names()).toHaveLength(there.length + 1)
  const copy = /copy is ([0-9a-f-]{36})/u.exec(err)?.[1] ?? ''
  const again = await place.run(['repair', copy])
  expect(again).toMatchObject({ code: 0, out: '' })
  expect(again.err).toContain('nothing to repair')
})

test('[CLI41] repair --dry-run and repair say the same of a session whose folder is gone', async () => {
  const id = '0c0ffee0-0000-4000-8000-00000000009e'
  const make = createLines({ sessionId: id, cwd: '/gone/for/good' })
  const said = [make.prompt('Where?'), make.reply([{ type: 'text', text: 'Nowhere.' }])]
  await writeTranscript(join(place.path, 'claude'), toJsonl(said), { id, project: '-gone-for-good' })
  const dry = await place.run(['repair', id, '--dry-run'])
  const wet = await place.run(['repair', id])
  for (const { code, out, err } of [dry, wet]) {
    expect(code).toBe(1)
    expect(out).toMatch(/workdir-gone/)
    expect(err).toContain('There is nothing that a copy would repair: 1 problem left for you.')
  }
})

describe.each(['without a daemon', 'with a daemon'])('%s', (how) => {
  beforeEach(async () => {
    if (how === 'with a daemon') await place.run(['--no-open'])
  })

  test('[CLI42] compact makes room beside the session, and --undo takes it back exactly', async () => {
    const whole = (await place.run(['restore', SESSION])).out
    const { err } = await place.run(['compact', SESSION, '--keep', '2'])
    expect(err).toContain('11 turns summarised, 2 kept word by word.')
    const shorter = (await place.run(['restore', SESSION])).out
    expect(shorter.length).toBeLessThan(whole.length)
    expect(shorter).toContain('Question 12')
    expect((await place.run(['compact', SESSION, '--undo'])).code).toBe(0)
    expect((await place.run(['restore', SESSION])).out).toBe(whole)
    const nothing = await place.run(['compact', SESSION, '--undo'])
    expect(nothing).toMatchObject({ code: 1, out: '' })
    expect(nothing.err).toContain('next:')
  })
})

test('[CLI43] resume --in says what is lost, writes once, and in a script gives the line to type', async () => {
  const folder = join(place.path, "it's a folder")
  mkdirSync(folder)
  const line = ['resume', SESSION, 'go', 'on', '--in', 'codex', '--workdir', folder]
  const first = await place.run(line)
  expect(first).toMatchObject({ code: 0, out: '' })
  expect(first.err).toContain('a line is added that names the new folder')
  const told = String.raw`(cd '${place.path}/it'\''s a folder' && codex resume `
  expect(first.err).toContain(told)
  expect(first.err).toContain("-- 'go on')")
  const id = /Written as ([0-9a-f-]{36})\./u.exec(first.err)?.[1]
  expect(string(await place.json(line), 'sessionId')).toBe(id)
  const files = readdirSync(join(place.path, '.codex/sessions'), { recursive: true, encoding: 'utf8' })
  expect(files.filter((file) => file.includes(id ?? '?'))).toHaveLength(1)
})

test('[CLI43] in a terminal the agent goes on where the session was written', async () => {
  const bin = join(place.path, 'bin')
  mkdirSync(bin)
  const agent = join(bin, 'codex')
  writeFileSync(agent, '#!/bin/sh\necho "codex was run with $* in $(pwd)"\nexit 7\n')
  chmodSync(agent, 0o755)
  const command = [...place.command, 'resume', SESSION, '--in', 'codex', '--yes']
  // A terminal of its own: `script` gives it one, and hands its exit code on.
  const shell = `'script' -qec "${command.join(' ')}" /dev/null`
  const { out, code } = await runShell(shell, { ...place.env, PATH: `${bin}:${place.env['PATH'] ?? ''}` })
  expect(out).toMatch(/codex was run with resume [0-9a-f-]{36} in .*work/)
  expect(code).toBe(7)
})

test('[CLI44] handoff packs a session, and takes it in on another machine in another folder', async () => {
  const bundle = join(place.path, 'session.handoff.gz')
  const packed = await place.run(['handoff', SESSION, '--out', bundle])
  expect(packed.code).toBe(0)
  expect(packed.err).toContain('Secrets in it are as they were said')
  expect((await place.run(['handoff', SESSION, '--out', bundle])).code).toBe(1)
  const other = await openCliPlace()
  try {
    const taken = await other.run(['handoff', 'import', bundle, '--workdir', other.workdir])
    expect(taken.code).toBe(0)
    const id = /Imported as ([0-9a-f-]{36})\./u.exec(taken.err)?.[1] ?? ''
    const { out } = await other.run(['show', id])
    expect(out).toContain('Question 12')
    expect((await other.run(['handoff', 'import'])).err).toContain('Name the file')
    // [HOF4]: what cannot be read is a sentence, not a stack.
    const broken = join(place.path, 'broken.gz')
    writeFileSync(broken, readFileSync(bundle).subarray(0, 200))
    for (const file of ['nothere', broken, place.path]) {
      const { code, err } = await other.run(['handoff', 'import', file])
      expect([code === 0, err.startsWith('error: '), /\n\s+at |Error:/.test(err)]).toEqual([
        false,
        true,
        false,
      ])
    }
  } finally {
    await other.close()
  }
})
