import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { LocalThroughline } from '#app'
import type { Reading, SessionSummary } from '#model'
import { openTeamBook, type PostgresAddress } from '#store'
import {
  expectError,
  openPostgresServer,
  openTeamPlace,
  openTempDir,
  ownsPostgresServer,
  type PostgresServer,
  type TeamPlace,
  type TempDir,
} from '#testing'
import { makeMachine, plantEverything, type Machine } from './team-machines.ts'

let server: PostgresServer
let dir: TempDir
let team: TeamPlace
const opened: { close(): Promise<void> }[] = []
let machines = 0
const patience = { timeout: 90_000, interval: 50 }

beforeAll(async () => {
  server = await openPostgresServer({ own: true })
  dir = await openTempDir()
  team = await openTeamPlace(server, { admin: { person: 'ada', machine: 'desk' } })
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()))
})
afterAll(async () => {
  await server?.close()
  await dir?.remove()
})

async function addMachine(person: string): Promise<Machine> {
  const store: PostgresAddress = await team.addMachine({ person, machine: `m${++machines}` })
  return makeMachine(join(dir.path, `m${machines}`), store)
}

async function open(machine: Machine): Promise<LocalThroughline> {
  const throughline = await machine.open()
  opened.push(throughline)
  return throughline
}

async function list(throughline: LocalThroughline): Promise<readonly SessionSummary[]> {
  return (await throughline.list()).sessions
}

async function find(throughline: LocalThroughline, id: string): Promise<SessionSummary | undefined> {
  return (await list(throughline)).find((session) => session.id === id)
}

async function pageOf(
  throughline: LocalThroughline,
  session: SessionSummary,
  subagent?: string,
): Promise<unknown> {
  const page = await throughline.page(session, {
    limit: 100_000,
    ...(subagent === undefined ? {} : { subagent }),
  })
  return { ...page, readings: page.readings.map(toPlain) }
}

function toPlain(reading: Reading): unknown {
  if (reading.kind === 'damage') return reading
  return { ...reading.entry, raw: Buffer.from(reading.entry.raw).toString() }
}

describe('sessions of another machine', () => {
  test('[TEA50] are in the list, with where they are, and read byte for byte as they do there', async () => {
    const desk = await addMachine('cleo')
    const laptop = await addMachine('cleo')
    plantEverything(desk)
    const there = await open(desk)
    const here = await open(laptop)
    const originals = await list(there)
    expect(originals.length).toBeGreaterThan(40)
    expect(new Set(originals.map(({ agent }) => agent))).toEqual(
      new Set(['claude', 'codex', 'gemini', 'opencode']),
    )
    await expect.poll(async () => (await list(here)).length, patience).toBe(originals.length)
    await expect.poll(async () => (await here.team.status()).state, patience).toBe('connected')
    await expect
      .poll(async () => (await list(here)).map(({ id, size }) => `${id} ${size}`).toSorted(), patience)
      .toEqual(originals.map(({ id, size }) => `${id} ${size}`).toSorted())
    for (const original of originals) {
      const mirrored = await here.get(original.id)
      expect(mirrored.origin).toEqual({
        origin: expect.any(String),
        machine: 'm1',
        person: 'cleo',
        mine: true,
      })
      const { firstPrompt, createdAt, lastActivityAt, workdirs, state, agent } = original
      expect(mirrored).toMatchObject({ firstPrompt, createdAt, lastActivityAt, workdirs, state, agent })
      expect(await pageOf(here, mirrored)).toEqual(await pageOf(there, original))
      expect(mirrored.subagents.map(({ id }) => id)).toEqual(original.subagents.map(({ id }) => id))
      for (const { id } of original.subagents)
        expect(await pageOf(here, mirrored, id)).toEqual(await pageOf(there, original, id))
    }
  })

  test('[TEA51] are followed as they are written, and their own names are used', async () => {
    const desk = await addMachine('dora')
    const laptop = await addMachine('dora')
    desk.write('aaaa', ['the first words'])
    const there = await open(desk)
    const here = await open(laptop)
    await expect.poll(() => find(here, 'aaaa'), patience).toBeDefined()
    const heard: string[] = []
    const subscription = here.subscribe(
      { kind: 'session', id: 'aaaa' },
      {
        onEvent(event) {
          if (event.kind === 'entry.added')
            heard.push(...event.readings.map((reading) => JSON.stringify(toPlain(reading))))
        },
      },
    )
    for (let n = 0; n < 5; n++) desk.say('aaaa', `words ${n}`)
    await expect.poll(() => heard.length, patience).toBe(6)
    expect(heard.at(-1)).toContain('words 4')
    subscription.close()
    await there.rename(await there.get('aaaa'), 'a good name')
    await expect.poll(async () => (await find(here, 'aaaa'))?.name, patience).toBe('a good name')
  })

  test('[TEA52] of somebody else are here while they are shared, and not before or after', async () => {
    const desk = await addMachine('emil')
    const other = await addMachine('fred')
    desk.write('bbbb', ['something private'])
    desk.write('cccc', ['something for fred'])
    const there = await open(desk)
    const here = await open(other)
    await there.team.share({ kind: 'session', session: 'cccc', with: { person: 'fred' } })
    await expect.poll(() => find(here, 'cccc'), patience).toBeDefined()
    expect((await here.get('cccc')).origin).toMatchObject({ person: 'emil', mine: false })
    await expectError(here.get('bbbb'), 'session-not-found')
    expect(filesIn(other)).toContain('something for fred')
    await there.team.unshare({ kind: 'session', session: 'cccc', with: { person: 'fred' } })
    await expect.poll(() => find(here, 'cccc'), patience).toBeUndefined()
    expect(filesIn(other)).not.toContain('something for fred')
    expect(filesIn(other)).not.toContain('something private')
    await there.team.share({ kind: 'session', session: 'cccc', with: 'everybody' })
    await expect.poll(() => find(here, 'cccc'), patience).toBeDefined()
    const book = await openTeamBook({ address: team.admin, most: 1 })
    await book.revoke((await here.team.status()).self?.origin ?? '')
    await book.close()
    await expect.poll(() => find(here, 'cccc'), patience).toBeUndefined()
    expect(filesIn(other)).not.toContain('something for fred')
    expect(await here.team.status()).toMatchObject({ state: 'away', trouble: { code: 'not-in-team' } })
  })

  test('[TEA53] that are here too are read from the file that is here', async () => {
    const [desk, laptop] = [await addMachine('gina'), await addMachine('gina')]
    desk.write('dddd', ['as it is there'])
    laptop.write('dddd', ['as it is here'])
    laptop.write('eeee', ['only here'])
    const there = await open(desk)
    const here = await open(laptop)
    await expect.poll(() => find(there, 'eeee'), patience).toBeDefined()
    expect(await find(here, 'dddd')).toMatchObject({ firstPrompt: 'as it is here' })
    expect((await find(here, 'dddd'))?.origin).toBeUndefined()
    expect(await find(there, 'dddd')).toMatchObject({ firstPrompt: 'as it is there' })
    // And of what is elsewhere, what is one's own.
    const stranger = await addMachine('gert')
    stranger.write('eeee', ['not what it seems'])
    stranger.write('kkkk', ['from somebody else'])
    const foreign = await open(stranger)
    await foreign.team.share({ kind: 'everything', with: 'everybody' })
    await expect.poll(() => find(there, 'kkkk'), patience).toBeDefined()
    await expect.poll(() => find(there, 'eeee'), patience).toMatchObject({ firstPrompt: 'only here' })
  })
})

describe('what leaves a machine', () => {
  test('[TEA42] are its own sessions with all that lies beside them, masked, and nothing that is to stay', async () => {
    const desk = await addMachine('lena')
    const folder = join(desk.claudeDir, 'projects', '-work-demo')
    const token = ['gh', 'p_', 'a1B2'.repeat(9)].join('')
    writeFileSync(join(desk.home, 'config.json'), JSON.stringify({ team: { keepHere: ['/work/secret'] } }))
    desk.write('iiii', ['something', `the token is ${token}`])
    mkdirSync(join(folder, 'iiii', 'tool-results'), { recursive: true })
    writeFileSync(join(folder, 'iiii', 'tool-results', 'x.txt'), `long\n${token}\nno newline`)
    desk.write('jjjj', ['stays here'])
    const secret = readFileSync(join(folder, 'jjjj.jsonl'), 'utf8').replaceAll('/work/demo', '/work/secret/x')
    writeFileSync(join(folder, 'jjjj.jsonl'), secret)
    const there = await open(desk)
    await there.demo('on')
    await there.rename(await there.get('iiii'), 'my name for it')
    await expect.poll(async () => (await there.list()).sessions.length, patience).toBeGreaterThan(2)
    const shipped = async (): Promise<readonly string[]> => {
      const rows = await team.say<{ kind: string; place: string; session: string }>(
        `SELECT kind, coalesce(place, '') AS place, coalesce(session, '') AS session
         FROM log_file AS file JOIN person ON person.team = file.team AND person.id = file.owner
         WHERE person.name = 'lena' ORDER BY 1, 2`,
      )
      return rows.map(({ kind, place, session }) => `${kind} ${place} ${session}`.trim())
    }
    await expect
      .poll(shipped, patience)
      .toEqual([
        'name',
        'side claude/projects/-work-demo/iiii/tool-results/x.txt iiii',
        'transcript claude/projects/-work-demo/iiii.jsonl iiii',
      ])
    await expect.poll(async () => (await there.team.status()).outbox.waiting, patience).toBe(0)
    const lines = await team.say<{ bytes: Buffer }>('SELECT bytes FROM log_line')
    const text = Buffer.concat(lines.map(({ bytes }) => bytes)).toString()
    expect(text).toContain('[redacted:github-token]')
    expect(text).toContain('no newline')
    expect(text).toContain('my name for it')
    expect(text).not.toContain(token)
    expect(text).not.toContain('stays here')
  })
})

describe.runIf(ownsPostgresServer())('a database that is away', () => {
  test('[TEA54] [FLT48] keeps nobody from his own sessions; when it is back, nothing is lost and nothing is doubled', async () => {
    const [desk, laptop] = [await addMachine('hans'), await addMachine('hans')]
    desk.write('ffff', ['before'])
    laptop.write('gggg', ['before'])
    const there = await open(desk)
    const here = await open(laptop)
    await expect.poll(() => find(here, 'ffff'), patience).toBeDefined()
    await expect.poll(() => find(there, 'gggg'), patience).toBeDefined()
    await server.stopImmediately()
    for (let n = 0; n < 40; n++) {
      desk.say('ffff', `desk ${n}`)
      laptop.say('gggg', `laptop ${n}`)
    }
    await expect.poll(async () => (await pageTexts(there, 'ffff')).length, patience).toBe(41)
    await there.rename(await there.get('ffff'), 'named meanwhile')
    // What was here of the other machine is here.
    expect(await pageTexts(here, 'ffff')).toEqual(['before'])
    // A machine that starts meanwhile starts.
    await here.close()
    opened.splice(opened.indexOf(here), 1)
    const again = await open(laptop)
    expect(await pageTexts(again, 'gggg')).toHaveLength(41)
    expect(await pageTexts(again, 'ffff')).toEqual(['before'])
    await expect.poll(async () => (await again.team.status()).state, patience).toBe('away')
    expect((await again.team.status()).self).toMatchObject({ person: 'hans' })
    await server.start()
    const all = (who: string): readonly string[] => [
      'before',
      ...Array.from({ length: 40 }, (_, n) => `${who} ${n}`),
    ]
    await expect.poll(() => pageTexts(again, 'ffff'), patience).toEqual(all('desk'))
    await expect.poll(() => pageTexts(there, 'gggg'), patience).toEqual(all('laptop'))
    await expect.poll(async () => (await find(again, 'ffff'))?.name, patience).toBe('named meanwhile')
    const rows = await team.say<{ lines: number; places: number }>(
      `SELECT count(*)::integer AS lines, count(DISTINCT (line.file, line."offset"))::integer AS places
       FROM log_line AS line JOIN log_file AS file ON file.id = line.file WHERE file.session IN ('ffff', 'gggg')`,
    )
    expect(rows).toEqual([{ lines: 82, places: 82 }])
  })
})

describe('a long session', () => {
  test('[TEA44] of another machine costs a page to show a page', async () => {
    const [desk, laptop] = [await addMachine('ines'), await addMachine('ines')]
    const megabytes = process.env['RUNS'] === 'full' ? 300 : 10
    desk.write(
      'hhhh',
      Array.from({ length: megabytes * 50 }, (_, n) => `${n} ${'words of no weight '.repeat(1050)}`),
    )
    const there = await open(desk)
    await expect
      .poll(async () => (await there.team.status()).outbox.waiting, { ...patience, timeout: 600_000 })
      .toBe(0)
    const here = await open(laptop)
    const size = (await there.get('hhhh')).size
    await expect
      .poll(async () => (await find(here, 'hhhh'))?.size, { ...patience, timeout: 600_000 })
      .toBe(size)
    const session = await here.get('hhhh')
    const page = await here.page(session, { limit: 20 })
    expect(page.readings).toHaveLength(20)
    expect(page).toEqual(await there.page(await there.get('hhhh'), { limit: 20 }))
    const { mirror } = await here.team.status()
    expect(mirror.bytes).toBeLessThan(1_000_000)
  }, 900_000)
})

async function pageTexts(throughline: LocalThroughline, id: string): Promise<readonly string[]> {
  const page = await throughline.page(await throughline.get(id), { limit: 1000 })
  return page.readings.map((reading) => {
    const [block] = reading.kind === 'entry' && 'blocks' in reading.entry ? reading.entry.blocks : []
    return block?.kind === 'text' ? block.text : ''
  })
}

/** Everything that is here of other machines. */
function filesIn({ home }: Machine): string {
  const folder = join(home, 'team')
  if (!existsSync(folder)) return ''
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}
