import {
  appendFileSync,
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ThroughlineError } from '#base'
import { openTeamLog, toPostgresAddress, type TeamLog } from '#store'
import {
  openPostgresServer,
  openTcpProxy,
  openTeamPlace,
  openTempDir,
  ownsPostgresServer,
  runs,
  type PostgresServer,
  type TeamPlace,
  type TempDir,
} from '#testing'
import { openOutbox, type OfferedFile, type Outbox } from './outbox.ts'

let server: PostgresServer
let dir: TempDir
let team: TeamPlace

beforeAll(async () => {
  server = await openPostgresServer({ own: true })
  team = await openTeamPlace(server)
  dir = await openTempDir()
})
afterAll(async () => {
  await server?.close()
  await dir?.remove()
})

let places = 0

/** A team, a folder with files, and an outbox between them. */
async function newPlace(): Promise<{
  readonly path: (name: string) => string
  readonly offer: (name: string) => OfferedFile
  readonly openLog: (port?: number) => Promise<TeamLog>
  readonly open: (options?: {
    port?: number
    mask?: (line: Buffer) => Promise<Buffer>
    now?: () => number
  }) => Promise<Outbox>
  readonly state: string
}> {
  const place = ++places
  /** Named as an agent names its transcripts, which tells how their lines are read. */
  const path = (name: string): string =>
    join(dir.path, `${place}-${name}${name.includes('.') ? '' : '.jsonl'}`)
  const machine = await team.addMachine({ person: `ada-${place}` })
  const openLog = (port?: number): Promise<TeamLog> => {
    const address = new URL(machine.reveal())
    if (port !== undefined) address.port = String(port)
    return openTeamLog({
      address: toPostgresAddress(address.href),
      most: 2,
      statementMs: 2000,
      connectMs: 1000,
    })
  }
  const state = path('outbox.json')
  return {
    path,
    offer: (name) => ({ kind: 'transcript', path: path(name), session: name, scope: 'private' }),
    openLog,
    open: ({ port, now, mask = (line: Buffer) => Promise.resolve(line) } = {}) =>
      openOutbox({ openLog: () => openLog(port), path: state, mask, now }),
    state,
  }
}

/** Everything that was shipped, by file, in the order of the file; and how often each place is there. */
async function shippedOf(
  log: TeamLog,
): Promise<{ readonly texts: readonly string[]; readonly doubled: number }> {
  const seen = new Map<string, number>()
  const files = new Set<number>()
  for (let after = 0; ;) {
    const { lines, next, more } = await log.readAfter(after)
    for (const { file, offset } of lines) {
      files.add(file)
      seen.set(`${file} ${offset}`, (seen.get(`${file} ${offset}`) ?? 0) + 1)
    }
    if (!more) break
    after = next
  }
  const texts: string[] = []
  for (const file of files) {
    let text = ''
    for (let from: number | undefined = 0; from !== undefined;) {
      const page = await log.readPage({ file, from, bytes: 100_000 })
      text += page.lines.map(({ bytes }) => bytes?.toString() ?? '').join('')
      from = page.next
    }
    texts.push(text)
  }
  return { texts: texts.toSorted(), doubled: [...seen.values()].filter((times) => times > 1).length }
}

const wholeLines = (path: string): string => {
  const text = readFileSync(path, 'utf8')
  return text.slice(0, text.lastIndexOf('\n') + 1)
}

test('[TEA15] whatever is written, and wherever the outbox is killed and starts again from what it knew before, the log has every whole line once', async () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('write' as const),
      name: fc.constantFrom('a', 'b'),
      text: fc.string({ unit: fc.constantFrom('x', '\n', 'é', '\u0000'), maxLength: 30 }),
    }),
    fc.record({ kind: fc.constant('drain' as const) }),
    // What it had remembered is that of some time ago, or nothing at all.
    fc.record({ kind: fc.constant('die' as const), remembers: fc.constantFrom('all', 'older', 'nothing') }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 15 }), async (steps) => {
      const { path, offer, open, openLog, state } = await newPlace()
      for (const name of ['a', 'b']) writeFileSync(path(name), `${name}\n`)
      let outbox = await open()
      const offerAll = (): void => {
        for (const name of ['a', 'b']) outbox.offer(offer(name))
      }
      for (const each of steps) {
        if (each.kind === 'write') {
          appendFileSync(path(each.name), each.text)
          outbox.offer(offer(each.name))
        } else if (each.kind === 'drain') {
          offerAll()
          await outbox.drained()
          if (existsSync(state)) copyFileSync(state, `${state}.older`)
        } else {
          await outbox.close()
          if (each.remembers === 'nothing') rmSync(state, { force: true })
          if (each.remembers === 'older' && existsSync(`${state}.older`))
            copyFileSync(`${state}.older`, state)
          outbox = await open()
        }
      }
      offerAll()
      await outbox.drained()
      await outbox.close()
      const log = await openLog()
      const { texts, doubled } = await shippedOf(log)
      expect(texts).toEqual([wholeLines(path('a')), wholeLines(path('b'))].toSorted())
      expect(doubled).toBe(0)
      await log.close()
    }),
    runs(12),
  )
})

test('[TEA19] a last record without its newline is shipped when its file is at rest, and is in the log once', async () => {
  const { path, offer, open, openLog, state } = await newPlace()
  const [first, second] = ['{"type":"user","uuid":"1"}', '{"type":"user","uuid":"2"}']
  writeFileSync(path('a'), `${first}\n${second}`)
  const written = Date.now()
  let now = written
  const begin = async (): Promise<Outbox> => {
    const outbox = await open({ now: () => now })
    outbox.offer(offer('a'))
    return outbox
  }
  const text = async (): Promise<readonly string[]> => {
    const log = await openLog()
    const { texts } = await shippedOf(log)
    await log.close()
    return texts
  }
  let outbox = await begin()
  await expect.poll(text).toEqual([`${first}\n`])
  // It waits, and that is said.
  expect(outbox.status().waiting).toBe(1)
  now += 60_000
  outbox.offer(offer('a'))
  await outbox.drained()
  expect(await text()).toEqual([`${first}\n${second}`])
  // Neither by another process that forgot how far it was, nor when its newline comes, is it there twice.
  await outbox.close()
  rmSync(state)
  outbox = await begin()
  await outbox.drained()
  expect(await text()).toEqual([`${first}\n${second}`])
  appendFileSync(path('a'), `\n{"type":"us`)
  now += 60_000
  outbox.offer(offer('a'))
  await outbox.drained()
  expect(await text()).toEqual([`${first}\n${second}\n`])
  expect(outbox.status()).toMatchObject({ waiting: 0, held: [] })
  await outbox.close()
})

test.runIf(ownsPostgresServer())(
  '[TEA16] [FLT48] while the database is away, or the network bad, writing goes on; when it is back everything is shipped once',
  async () => {
    const { path, offer, open, openLog } = await newPlace()
    const proxy = await openTcpProxy(server.port)
    const outbox = await open({ port: proxy.port })
    writeFileSync(path('a'), '')
    const write = (from: number): void => {
      for (let n = from; n < from + 50; n++) appendFileSync(path('a'), `line ${n}\n`)
      outbox.offer(offer('a'))
    }
    write(0)
    await outbox.drained()
    await server.stopImmediately()
    write(50)
    await expect.poll(() => outbox.status().trouble).toBeDefined()
    expect(outbox.status().waiting).toBe(1)
    await server.start()
    await outbox.drained()
    expect(outbox.status()).toMatchObject({ waiting: 0, trouble: undefined })
    for (let n = 2; n < 8; n++) {
      proxy.cutAtNextAnswer()
      write(n * 50)
      await outbox.drained()
    }
    proxy.fallSilent()
    write(400)
    await expect.poll(() => outbox.status().trouble).toBeDefined()
    proxy.heal()
    await outbox.drained()
    await outbox.close()
    const log = await openLog()
    const { texts, doubled } = await shippedOf(log)
    expect(texts).toEqual([readFileSync(path('a'), 'utf8')])
    expect(doubled).toBe(0)
    await log.close()
    await proxy.close()
  },
)

test('[TEA17] secrets are masked before a line leaves; what cannot be looked through stays here, and is said', async () => {
  const { path, offer, open, openLog } = await newPlace()
  writeFileSync(path('a'), 'good\nsecret\nbroken\nend\n')
  const outbox = await open({
    mask: async (line) => {
      if (line.includes('broken')) {
        throw new ThroughlineError('redaction-failed', 'it could not be searched', { hint: 'Nothing to do.' })
      }
      return Buffer.from(line.toString().replace('secret', '******'))
    },
  })
  outbox.offer(offer('a'))
  await outbox.drained()
  expect(outbox.status().held).toEqual([
    { path: path('a'), offset: 12, length: 7, reason: 'redaction-failed' },
  ])
  await outbox.close()
  const again = await open()
  expect(again.status().held).toHaveLength(1)
  await again.close()
  const log = await openLog()
  expect((await shippedOf(log)).texts).toEqual(['good\n******\nend\n'])
  await log.close()
})

test('[TEA18] a file that was rewritten is another one from then on; one that was deleted is shipped from where it is kept', async () => {
  const { path, offer, open, openLog } = await newPlace()
  const outbox = await open()
  writeFileSync(path('a'), 'one\ntwo\n')
  writeFileSync(path('b'), 'kept\n')
  linkSync(path('b'), path('b.kept'))
  for (const name of ['a', 'b']) outbox.offer(offer(name))
  await outbox.drained()
  writeFileSync(path('a'), 'new\n')
  appendFileSync(path('b'), 'more\n')
  rmSync(path('b'))
  outbox.offer(offer('a'))
  outbox.offer({ ...offer('b'), keptAt: path('b.kept') })
  await outbox.drained()
  await outbox.close()
  const log = await openLog()
  expect((await shippedOf(log)).texts).toEqual(['kept\nmore\n', 'new\n', 'one\ntwo\n'])
  await log.close()
})
