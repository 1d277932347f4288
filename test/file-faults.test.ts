import { list, string } from '#base'
import {
  createLines,
  createRollout,
  eventually,
  mountSmallDisk,
  SESSION,
  toJsonl,
  writeRollout,
  writeTranscript,
} from '#testing'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, openSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { chmod, cp, mkdir, open, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openUserPlace, type UserPlace } from './user-place.ts'

let place: UserPlace
beforeEach(async () => {
  place = await openUserPlace()
})
afterEach(() => place.remove())

const GB = 1024 ** 3

test('[FLT55] [READ23] sparse transcripts up to a terabyte hold up no command and no daemon', async () => {
  const ids: string[] = []
  for (const [index, size] of [2 * GB, 20 * GB, 1024 * GB].entries()) {
    const id = `${index}aaaaaaa-1111-4000-8000-000000000001`
    const lines = createLines({ sessionId: id, cwd: place.home })
    const said = [
      lines.prompt(`Where does kumquat ${index} grow?`),
      lines.reply([{ type: 'text', text: 'There.' }]),
    ]
    const path = await writeTranscript(join(place.home, '.claude'), toJsonl(said), { id })
    await truncate(path, size)
    ids.push(id)
  }
  const begun = performance.now()
  expect(await place.run(['start', '--no-open'])).toMatchObject({ code: 0 })
  for (const id of ids) {
    const shown = await place.run(['show', id])
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('There.') })
    expect(shown.out.match(/could not be read/g)).toHaveLength(1)
    const findings = list(list(await place.json(['check', id]), 'sessions')[0], 'findings')
    expect(findings.filter((each) => string(each, 'code') === 'nul-run')).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/^[\d,]{13,17} zero bytes/) }),
    ])
  }
  const found = await place.json(['search', 'kumquat'])
  expect(list(found, 'hits')).toHaveLength(3)
  expect(await place.run(['status'])).toMatchObject({ code: 0, out: expect.stringContaining('3 sessions') })
  expect(await place.run(['stop'])).toMatchObject({ code: 0 })
  // To read a terabyte of zeros takes minutes; all of this takes a few seconds.
  expect(performance.now() - begun).toBeLessThan(60_000)
})

/** Nothing of a stack, of an error's code alone, or of a bug: a sentence, and what to do. */
function expectSentence(
  { code, err }: { readonly code: number | null; readonly err: string },
  of: unknown,
): void {
  expect([of, code === 0, err]).toEqual([of, false, expect.stringMatching(/^error: .*\nnext: .+/m)])
  expect([of, err]).toEqual([
    of,
    expect.not.stringMatching(/unexpected|\n\s+at |node:|Unhandled|failed that/),
  ])
}

const FOLDERS = [
  { agent: 'codex', variable: 'CODEX_HOME', below: '' },
  { agent: 'gemini', variable: 'GEMINI_CLI_HOME', below: '.gemini' },
  { agent: 'opencode', variable: 'XDG_DATA_HOME', below: 'opencode' },
  { agent: 'claude', variable: 'CLAUDE_CONFIG_DIR', below: '' },
]

describe('a folder that may not be read', () => {
  test.for(FOLDERS)(
    '[FLT56] of $agent keeps no daemon from starting, hides no other session, and is named with the reason',
    async ({ variable, below }) => {
      const others = variable === 'CLAUDE_CONFIG_DIR' ? '.codex' : '.claude'
      const rollout = createRollout()
      if (others === '.codex')
        writeRollout(join(place.home, '.codex'), rollout.meta() + rollout.prompt('Hello'))
      else await writeTranscript(join(place.home, '.claude'), toJsonl([createLines().prompt('Hello')]))
      const locked = join(place.home, 'locked')
      await mkdir(join(locked, below), { recursive: true })
      const user = lock(place.home, locked)
      const env = { [variable]: locked }
      const run = (args: readonly string[]): ReturnType<UserPlace['run']> => place.run(args, env, { user })
      const listed = await run(['ls'])
      expect([variable, listed]).toEqual([variable, expect.objectContaining({ code: 0 })])
      expect(listed.out).toContain('Hello')
      expect(listed.err).toMatch(/locked.*cannot be read.*EACCES/)
      expect(await run(['start', '--no-open'])).toMatchObject({ code: 0 })
      try {
        const status = await run(['status'])
        expect(status).toMatchObject({ code: 0, out: expect.stringContaining('1 session') })
        expect(status.out).toMatch(/locked.*cannot be read.*EACCES/)
      } finally {
        expect(await run(['stop'])).toMatchObject({ code: 0 })
        await chmod(locked, 0o700)
      }
    },
  )
})

const READING = [
  ['ls'],
  ['show', SESSION],
  ['search', 'kumquat'],
  ['usage'],
  ['export', SESSION, '--format', 'md'],
  ['check', SESSION],
]

describe('a disk that takes nothing', () => {
  test.for(['read-only', 'full'])(
    '[FLT57] %s: all that is written for one agent keeps nobody from reading the sessions of the others',
    async (how, { skip }) => {
      const home = join(place.home, '.throughline')
      const disk = mountSmallDisk(home, 'size=1m,mode=700')
      if (disk === undefined) return skip('only root can mount a file system for it')
      try {
        await writeTranscript(
          join(place.home, '.claude'),
          toJsonl([createLines().prompt('Where does the kumquat grow?')]),
        )
        await writeGemini(place.home)
        if (how === 'full') await fillDisk(join(home, 'fill'))
        else disk.remount('ro')
        for (const args of READING) {
          const result = await place.run(args)
          const found = args[0] === 'usage' ? '' : 'kumquat'
          expect([args, result]).toEqual([
            args,
            expect.objectContaining({ code: 0, out: expect.stringContaining(found) }),
          ])
        }
        const { err } = await place.run(['ls'])
        expect(err).toMatch(/transcribed\/gemini: 1 session is missing .*\nnext: .*(?:writable|space)/)
        const writing = [
          ['start', '--no-open'],
          ['rename', SESSION, 'x'],
          ['remember', 'Prefer tabs'],
        ]
        for (const args of writing) expectSentence(await place.run(args), args)
        expectSentence(await place.run(['export', SESSION, '--out', join(home, 'x.md')]), 'export')
      } finally {
        disk.remove()
      }
    },
  )
})

test.skipIf(!existsSync('/dev/full'))(
  '[CLI50] output that cannot be written is told in a sentence',
  async () => {
    await writeTranscript(join(place.home, '.claude'), toJsonl([createLines().prompt('Hello')]))
    for (const args of [['ls'], ['export', SESSION, '--format', 'md'], ['--help'], ['ls', '--help']]) {
      const result = await place.run(args, {}, { output: openSync('/dev/full', 'w') })
      expectSentence(result, args)
      expect(result.err).toContain('disk is full')
    }
  },
)

/** Nobody may read the folder, whoever runs this: root reads everything, and hands the home to another user. */
function lock(home: string, folder: string): number | undefined {
  if (process.getuid?.() !== 0) {
    chmodSync(folder, 0)
    return undefined
  }
  execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, home])
  execFileSync('chown', ['0:0', folder])
  chmodSync(folder, 0o700)
  return NOBODY
}

const NOBODY = 65_534

/** A session of Gemini CLI, which is transcribed into the home before it can be read. */
async function writeGemini(home: string): Promise<void> {
  const from = join(import.meta.dirname, 'fixtures/gemini/plain')
  await cp(from, join(home, '.gemini'), { recursive: true })
}

async function fillDisk(path: string): Promise<void> {
  const file = await open(path, 'w')
  try {
    for (;;) await file.write(Buffer.alloc(4096))
  } catch {
    await file.close()
  }
}

describe('damage of our own files', () => {
  test('[FLT58] is told by status, logs and check, with what is affected, what is kept and what to do', async () => {
    await writeTranscript(join(place.home, '.claude'), toJsonl([createLines().prompt('Hello')]))
    const home = join(place.home, '.throughline')
    expect(await place.run(['rename', SESSION, 'one'])).toMatchObject({ code: 0 })
    const preferences = join(home, 'preferences.jsonl')
    const sound = await readFile(preferences, 'utf8')
    const garbage = randomBytes(300).toString('latin1').replaceAll('\n', '')
    await writeFile(preferences, `${garbage}\n${sound}`)
    await writeFile(join(home, 'documents.jsonl'), '{"kind":\n', { mode: 0o600 })
    await writeFile(join(home, 'devices.jsonl'), 'no line at all', { mode: 0o600 })
    const told = [
      /preferences\.jsonl: 1 line cannot be read, so names and stars may be incomplete.*\n.*→ .*backup/s,
      /documents\.jsonl: 1 line cannot be read.*documents import/s,
    ]
    const checked = await place.run(['check'])
    for (const pattern of told) expect(checked.out).toMatch(pattern)
    expect(checked.out).toContain('2 warnings')
    expect(await place.run(['start', '--no-open'])).toMatchObject({ code: 0 })
    const status = await place.run(['status'])
    for (const pattern of told) expect(status.out).toMatch(pattern)
    await eventually(async () => {
      expect((await place.run(['logs'])).out.match(/notice .*jsonl: 1 line cannot be read/g)).toHaveLength(2)
    })
    expect(await place.run(['star', SESSION])).toMatchObject({ code: 0 })
    expect(await place.run(['stop'])).toMatchObject({ code: 0 })
    // Nothing of what was there is gone, and what can be read holds.
    expect(await readFile(preferences, 'utf8')).toContain(garbage.slice(0, 20))
    expect((await place.run(['ls'])).out).toMatch(/one/)
  })

  test('[FLT58] no file of our own is damaged in silence', async () => {
    const home = join(place.home, '.throughline')
    await mkdir(home, { mode: 0o700 })
    const files = `asks authors decisions devices documents lineage preferences recordings trust wake-ups`
    const names = files.split(' ').map((name) => `${name}.jsonl`)
    for (const name of names) await writeFile(join(home, name), '{"kind":\n', { mode: 0o600 })
    const { out } = await place.run(['check'])
    for (const name of names) expect(out).toContain(`/${name}: 1 line cannot be read, so `)
    expect(out).toContain(`${names.length} warnings`)
  })

  test('[FLT58] what is kept beside a session is not damaged in silence', async () => {
    const home = join(place.home, '.throughline')
    await writeTranscript(join(place.home, '.claude'), toJsonl([createLines().prompt('Hello')]))
    const logs = ['journal/2026/11', 'compactions', 'wake-ups', 'audit']
    for (const folder of logs) {
      await mkdir(join(home, folder), { mode: 0o700, recursive: true })
      await writeFile(join(home, folder, `${SESSION}.jsonl`), '{"kind":\n', { mode: 0o600 })
    }
    await chmod(home, 0o700)
    const { code, out } = await place.run(['check', SESSION, '--json'])
    const findings = list(JSON.parse(out), 'sessions').flatMap((session) => list(session, 'findings'))
    const damaged = findings.filter((finding) => string(finding, 'severity') === 'error')
    expect(damaged.map((finding) => [string(finding, 'code'), string(finding, 'path')])).toEqual(
      logs.map((folder) => [
        folder === 'audit' ? 'audit-broken' : 'own-log-damaged',
        join(home, folder, `${SESSION}.jsonl`),
      ]),
    )
    expect(code).toBe(1)
  })

  test('[FLT58] an end that was cut off is kept, and said to be', async () => {
    const home = join(place.home, '.throughline')
    await writeTranscript(join(place.home, '.claude'), toJsonl([createLines().prompt('Hello')]))
    expect(await place.run(['rename', SESSION, 'one'])).toMatchObject({ code: 0 })
    await writeFile(join(home, 'preferences.jsonl'), randomBytes(200))
    expect(await place.run(['rename', SESSION, 'two'])).toMatchObject({ code: 0 })
    const { out } = await place.run(['check'])
    expect(out).toMatch(/preferences\.jsonl: its end could not be read.*kept in .*preferences\.jsonl\.torn-0/)
  })

  test('[FLT58] an emptied secret is named with the command that mends it', async () => {
    expect(await place.run(['start', '--no-open'])).toMatchObject({ code: 0 })
    expect(await place.run(['stop'])).toMatchObject({ code: 0 })
    const secret = join(place.home, '.throughline/secret')
    await truncate(secret, 0)
    const { code, err } = await place.run(['start', '--no-open'])
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`rm ${secret}`) })
    await rm(secret)
    expect(await place.run(['start', '--no-open'])).toMatchObject({ code: 0 })
  })
})

test('[CLI50] a home that others may read is refused with the command that closes it', async () => {
  const home = join(place.home, '.throughline')
  await mkdir(home)
  await chmod(home, 0o755)
  const { code, err } = await place.run(['start', '--no-open'])
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`chmod go-rwx ${home}`) })
})

test('[STO16] an index of an older version goes, and one of a newer version stays as it is', async () => {
  const home = join(place.home, '.throughline')
  await mkdir(home, { mode: 0o700 })
  const [old, newer] = [join(home, 'index.v1.db'), join(home, 'index.v999.db')]
  for (const path of [old, newer, `${newer}-wal`]) await writeFile(path, 'of another version')
  expect(await place.run(['start', '--no-open'])).toMatchObject({ code: 0 })
  await eventually(async () => {
    expect((await place.run(['status'])).out).toMatch(/index +complete/)
  })
  expect(existsSync(old)).toBe(false)
  for (const path of [newer, `${newer}-wal`]) expect(await readFile(path, 'utf8')).toBe('of another version')
})
