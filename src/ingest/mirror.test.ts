import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openPlainFile, readPageBefore, claudeFormat } from '#sources'
import { openTeamLog, type PostgresAddress, type TeamLog } from '#store'
import {
  expectError,
  openPostgresServer,
  openTeamPlace,
  openTempDir,
  runs,
  type PostgresServer,
  type TeamPlace,
  type TempDir,
} from '#testing'
import { openMirror, type Mirror, type MirrorOptions } from './mirror.ts'
import { openOutbox, type OfferedFile, type Outbox } from './outbox.ts'

let server: PostgresServer
let dir: TempDir
let team: TeamPlace
let here: PostgresAddress
let there: PostgresAddress
const opened: { close(): Promise<void> }[] = []
let places = 0

beforeAll(async () => {
  server = await openPostgresServer()
  dir = await openTempDir()
  team = await openTeamPlace(server, { admin: { person: 'ada', machine: 'desk' } })
  there = team.admin
  here = await team.addMachine({ person: 'ada', machine: 'laptop' })
})
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close()
})
afterAll(async () => {
  await server?.close()
  await dir?.remove()
})

/** A machine that writes into a folder and ships it, and one that has the mirror of it. */
function newPlace(mask: (line: Buffer) => Promise<Buffer> = (line) => Promise.resolve(line)): {
  readonly write: (name: string, bytes: string | Buffer) => string
  readonly ship: (...names: readonly string[]) => Promise<void>
  readonly offerOf: (name: string) => OfferedFile
  readonly open: (options?: Partial<MirrorOptions>) => Promise<Mirror>
  readonly mirrored: (mirror: Mirror, name: string) => string
  readonly home: string
} {
  const place = `p${++places}`
  const folder = join(dir.path, place)
  const home = join(dir.path, `${place}-home`)
  let outbox: Outbox | undefined
  mkdirSync(folder, { mode: 0o700 })
  const path = (name: string): string => join(folder, name)
  const offerOf = (name: string): OfferedFile => ({
    kind: name.endsWith('.jsonl') ? 'transcript' : 'side',
    path: path(name),
    session: `${place}-${name}`,
    place: `${place}/${name}`,
    scope: 'private',
  })
  return {
    home,
    offerOf,
    write(name, bytes) {
      mkdirSync(dirname(path(name)), { recursive: true })
      writeFileSync(path(name), bytes)
      return path(name)
    },
    async ship(...names) {
      if (outbox === undefined) {
        outbox = await openOutbox({ openLog: () => openLog(there), path: path('outbox.json'), mask })
        opened.push(outbox)
      }
      for (const name of names) outbox.offer(offerOf(name))
      await outbox.drained()
    },
    async open(options = {}) {
      const mirror = openMirror({
        openLog: () => openLog(here),
        dir: home,
        isPlace: (each) => each.startsWith(`${place}/`),
        glance: () => undefined,
        onChange: () => undefined,
        pollMs: 200,
        ...options,
      })
      opened.push(mirror)
      return mirror
    },
    mirrored: (mirror, name) => mirror.files().find((file) => file.place === `${place}/${name}`)?.here ?? '',
  }
}

function openLog(address: PostgresAddress): Promise<TeamLog> {
  return openTeamLog({ address, most: 3 })
}

function lines(count: number, length = 100): string {
  return Array.from(
    { length: count },
    (_, n) => `${JSON.stringify({ type: 'user', uuid: `u${n}`, text: 'x'.repeat(length) })}\n`,
  ).join('')
}

async function readAll(path: string): Promise<string> {
  const file = openPlainFile(path)
  try {
    const bytes = Buffer.alloc(file.size)
    await file.read(bytes, file.size, 0)
    return bytes.toString()
  } finally {
    file.close()
  }
}

describe('what other machines have', () => {
  test('[TEA43] is here byte for byte, new lines as they come, for its owner alone', async () => {
    const place = newPlace()
    const original = place.write('a.jsonl', lines(3))
    place.write('out/b.txt', 'no newline')
    await place.ship('a.jsonl', 'out/b.txt')
    const mirror = await place.open()
    await mirror.settled()
    const path = place.mirrored(mirror, 'a.jsonl')
    expect(await readAll(path)).toBe(readFileSync(original, 'utf8'))
    expect(await readAll(place.mirrored(mirror, 'out/b.txt'))).toBe('no newline')
    appendFileSync(original, lines(2))
    await place.ship('a.jsonl')
    await expect.poll(() => statSync(path).size, { timeout: 60_000 }).toBe(statSync(original).size)
    expect(await readAll(path)).toBe(readFileSync(original, 'utf8'))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
  })

  test('[TEA44] of a long file is fetched what is read; whoever does not wait is told', async () => {
    const place = newPlace()
    const original = place.write('a.jsonl', lines(4000, 1000))
    await place.ship('a.jsonl')
    const mirror = await place.open()
    await mirror.settled()
    const path = place.mirrored(mirror, 'a.jsonl')
    expect(statSync(path).size).toBe(statSync(original).size)
    const before = mirror.status().fetched
    expect(before).toBeLessThan(200_000)
    const file = openPlainFile(path)
    try {
      const page = await readPageBefore(file, claudeFormat, { limit: 100 })
      expect(page.readings).toHaveLength(100)
      const piece = Buffer.alloc(10)
      expect(() => file.readNow(piece, 10, 2_000_000)).toThrow(
        expect.objectContaining({ code: 'team-unreached' }),
      )
      await file.read(piece, 10, 2_000_000)
      expect(piece.toString()).toBe(readFileSync(original).toString('utf8', 2_000_000, 2_000_010))
      expect(file.readNow(piece, 10, 2_000_000)).toBe(10)
    } finally {
      file.close()
    }
    expect(mirror.status().fetched).toBeLessThan(600_000)
    await mirror.whole(path)
    expect(await readAll(path)).toBe(readFileSync(original, 'utf8'))
  })

  test('[TEA44] what a glance misses is fetched before anybody is told of the file', async () => {
    const place = newPlace()
    place.write('a.jsonl', lines(3000, 1000))
    await place.ship('a.jsonl')
    const seen: number[] = []
    const told: string[] = []
    const mirror = await place.open({
      glance({ path }) {
        const file = openPlainFile(path)
        try {
          seen.push(file.readNow(Buffer.alloc(300_000), 300_000, 1_000_000))
        } catch {
          seen.push(0)
        } finally {
          file.close()
        }
      },
      onChange: ({ file }) => told.push(file.here),
    })
    await mirror.settled()
    expect(seen.at(0)).toBe(0)
    expect(seen.at(-1)).toBe(300_000)
    expect(new Set(told)).toEqual(new Set([place.mirrored(mirror, 'a.jsonl')]))
  })

  test('[TEA45] lines that were held back leave their place, which is no damage', async () => {
    const mask = async (line: Buffer): Promise<Buffer> => {
      if (line.includes('bad')) throw new Error('it cannot be looked through')
      return line
    }
    const place = newPlace(mask)
    const all = `${lines(2)}{"bad":1}\n${lines(1)}{"bad":"${'y'.repeat(80)}"}\n${lines(2)}`
    place.write('a.jsonl', all)
    await place.ship('a.jsonl')
    const mirror = await place.open()
    await mirror.settled()
    const path = place.mirrored(mirror, 'a.jsonl')
    const text = await readAll(path)
    expect(text).toHaveLength(all.length)
    expect(
      text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => !all.includes(line)),
    ).toEqual(['{"type":"throughline.held"}'])
    const file = openPlainFile(path)
    const { readings } = await readPageBefore(file, claudeFormat, { limit: 100 })
    file.close()
    expect(readings.map((reading) => reading.kind)).not.toContain('damage')
    expect(readings).toHaveLength(6)
  })

  test('[TEA46] a file that was rewritten is the new one here too; what is not shared any more is gone', async () => {
    const place = newPlace()
    const removed: string[] = []
    const mirror = await place.open({
      onChange: (change) => change.kind === 'removed' && removed.push(change.file.here),
    })
    place.write('a.jsonl', lines(5))
    place.write('b.jsonl', lines(2))
    await place.ship('a.jsonl', 'b.jsonl')
    await mirror.settled()
    const path = place.mirrored(mirror, 'a.jsonl')
    place.write('a.jsonl', `{"new":true}\n`)
    await place.ship('a.jsonl')
    await expect.poll(() => readFileSync(path, 'utf8'), { timeout: 60_000 }).toBe('{"new":true}\n')
    await team.say(
      `DELETE FROM log_line USING log_file WHERE log_line.file = log_file.id AND log_file.place = $1`,
      [place.offerOf('b.jsonl').place],
    )
    await team.say(`DELETE FROM log_file WHERE place = $1`, [place.offerOf('b.jsonl').place])
    await mirror.settled()
    expect(removed).toHaveLength(1)
    expect(readdirSync(dirname(path))).toEqual(['a.jsonl'])
  })

  test('[TEA46] a place that leads elsewhere is none', async () => {
    const place = newPlace()
    const log = await openLog(there)
    for (const where of ['../../x.jsonl', 'p/../../x', '/etc/x', 'p\\x', 'state/1.json', ''])
      await log.putFile({ identity: where, kind: 'side', path: '/x', place: where, scope: 'private' })
    await log.close()
    const mirror = await place.open({ isPlace: () => true })
    await mirror.settled()
    expect(mirror.files().filter(({ path }) => path === '/x')).toEqual([])
  })

  test('[TEA47] cut off anywhere, what is here goes on; what was not written down is fetched again', async () => {
    const place = newPlace()
    const original = place.write('a.jsonl', lines(400, 2000))
    await place.ship('a.jsonl')
    const first = await place.open()
    await first.settled()
    const path = place.mirrored(first, 'a.jsonl')
    await first.close()
    const whole = readFileSync(original, 'utf8')
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          'nothing',
          'state gone',
          'file gone',
          'file cut',
          'file longer',
          'another file',
          'half begun',
        ),
        fc.nat(700_000),
        async (what, from) => {
          const folder = join(path, '..', '..')
          const states = join(folder, 'state')
          if (what === 'state gone') for (const name of readdirSync(states)) rmSync(join(states, name))
          if (what === 'file gone') rmSync(path)
          if (what === 'file cut') writeFileSync(path, readFileSync(path).subarray(0, from))
          if (what === 'file longer') appendFileSync(path, '{"torn')
          if (what === 'another file') {
            rmSync(path)
            writeFileSync(path, 'nonsense\n')
          }
          if (what === 'half begun') {
            mkdirSync(join(place.home, 'coming.mirror', '7'), { recursive: true })
            writeFileSync(join(dirname(path), 'b.jsonl'), 'x')
          }
          const mirror = await place.open()
          await mirror.settled()
          expect(readdirSync(dirname(path))).toEqual(['a.jsonl'])
          const file = openPlainFile(path)
          const bytes = Buffer.alloc(1000)
          const count = await file.read(bytes, 1000, from)
          file.close()
          expect(bytes.toString('utf8', 0, count)).toBe(whole.slice(from, from + 1000))
          expect(statSync(path).size).toBe(whole.length)
          await mirror.close()
        },
      ),
      runs(12),
    )
  })

  test('[TEA48] without a database what was fetched is here, and the rest says why it is not', async () => {
    const place = newPlace()
    place.write('a.jsonl', lines(3000, 1000))
    await place.ship('a.jsonl')
    const mirror = await place.open()
    await mirror.settled()
    const path = place.mirrored(mirror, 'a.jsonl')
    await mirror.close()
    const nobody = openPlainFile(path)
    await expectError(nobody.read(Buffer.alloc(10), 10, 0), 'team-unreached')
    nobody.close()
    const alone = await place.open({ openLog: () => Promise.reject(new Error('away')) })
    const file = openPlainFile(path)
    expect(await file.read(Buffer.alloc(10), 10, 0)).toBe(10)
    await expectError(file.read(Buffer.alloc(10), 10, 1_500_000), 'team-unreached')
    file.close()
    await alone.close()
  })
})
