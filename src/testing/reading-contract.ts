import { writeFile } from 'node:fs/promises'
import { createChain, toPassages, type Entry, type Passage, type Reading, type Way } from '#model'
import { toJsonl } from './claude-lines.ts'
import { bytesOf } from './contract-place.ts'
import { expectError, type Given, type Suite } from './contract-suite.ts'
import { readAll } from './readings.ts'

/** The part of the contract that is about reading one session. */
export function describeReading(suite: Suite, given: Given): void {
  const { expect, test } = suite
  test.each([1, 7, 1000])('pages of %i from either end meet without gap or overlap', async (limit) => {
    const { throughline, place } = given()
    for (const id of [place.shop.id, place.damaged]) {
      const session = await throughline.get(id)
      const whole = (await readAll(session.path)).map(plain)
      const forward: Reading[] = []
      for (let after = '0'; ;) {
        const page = await throughline.page(session, { limit, after })
        forward.push(...page.readings)
        if (page.atEnd) break
        after = page.end
      }
      expect(forward.map(plain)).toEqual(whole)
      const backward: Reading[] = []
      for (let before: string | undefined; ;) {
        const page = await throughline.page(session, { limit, ...(before === undefined ? {} : { before }) })
        backward.unshift(...page.readings)
        if (page.atStart) break
        before = page.start
      }
      expect(backward.map(plain)).toEqual(whole)
    }
  })

  test('a page without raw lines is the same page', async () => {
    const { throughline, place } = given()
    const session = await throughline.get(place.shop.id)
    const page = await throughline.page(session, { limit: 5 })
    const bare = await throughline.page(session, { limit: 5, raw: false })
    expect(bare.readings.map(withoutRaw)).toEqual(page.readings.map(withoutRaw))
    expect(bare.readings.every((one) => one.kind === 'entry' && one.entry.raw.length === 0)).toBe(true)
    expect([bare.start, bare.end]).toEqual([page.start, page.end])
  })

  test('entries, passages and bytes are those of the file', async () => {
    const { throughline, place } = given()
    for (const id of [place.shop.id, place.damaged, place.compacted]) {
      const session = await throughline.get(id)
      const whole = await readAll(session.path)
      const entries: Reading[] = []
      for await (const reading of throughline.entries(session)) entries.push(reading)
      expect(entries.map(plain)).toEqual(whole.map(plain))
      const passages: Passage[] = []
      for await (const some of throughline.passages(session)) passages.push(...some)
      expect(passages.map(outline)).toEqual(toPassages(whole, wayOf(whole)).map(outline))
      const pieces: Uint8Array[] = []
      for await (const piece of throughline.bytes(session)) pieces.push(piece)
      expect(Buffer.concat(pieces).equals(await bytesOf(session.path))).toBe(true)
    }
  })

  test('the last passages are the end of all passages', async () => {
    const { throughline, place } = given()
    const session = await throughline.get(place.shop.id)
    const last: Passage[] = []
    for await (const some of throughline.passages(session, { last: 3 })) last.push(...some)
    expect(last.at(-1)).toMatchObject({ kind: 'prompt', blocks: [{ text: 'And number 60?' }] })
    expect(last.length).toBeLessThan(6)
  })

  test("a subagent's conversation is read by its id", async () => {
    const { throughline, place } = given()
    const session = await throughline.get(place.delegating)
    const [subagent] = session.subagents
    const id = subagent?.id ?? ''
    const page = await throughline.page(session, { limit: 1000, subagent: id })
    expect(page.readings.map(plain)).toEqual((await readAll(subagent?.path ?? '')).map(plain))
    const passages: Passage[] = []
    for await (const some of throughline.passages(session, { subagent: id })) passages.push(...some)
    expect(passages.length).toBeGreaterThan(0)
    await expectError(throughline.page(session, { limit: 1, subagent: 'nobody' }), 'session-not-found')
  })

  test('the conversation is what the model sees after the compaction', async () => {
    const { throughline, place } = given()
    const entries = await throughline.conversation(await throughline.get(place.compacted))
    expect(entries[0]?.kind).toMatch(/compaction|summary/)
    const whole = (await readAll((await throughline.get(place.compacted)).path)).flatMap(entryOf)
    expect(entries.length).toBeLessThan(whole.length)
    const ids = new Map(whole.map((entry) => [entry.id, plain({ kind: 'entry', entry })]))
    for (const entry of entries) expect(plain({ kind: 'entry', entry })).toEqual(ids.get(entry.id))
  })

  test('a cursor that never was one is refused, one of a file that was rewritten is void', async () => {
    const { throughline, place } = given()
    const session = await throughline.get(place.blog.id)
    await expectError(throughline.page(session, { limit: 1, after: 'somewhere' }), 'request-invalid')
    const { end } = await throughline.page(session, { limit: 10 })
    const before = await bytesOf(session.path)
    await writeFile(session.path, toJsonl([place.blog.lines.prompt('Something else entirely')]))
    await expectError(throughline.page(session, { limit: 1, after: end }), 'cursor-void')
    await writeFile(session.path, before)
    expect((await throughline.page(session, { limit: 1, after: end })).readings).toEqual([])
  })
}

/** A reading as data: its bytes as text, and nothing that is undefined. */
function plain(reading: Reading): unknown {
  if (reading.kind === 'damage') return reading
  const { raw, ...entry } = reading.entry
  return JSON.parse(JSON.stringify({ entry, raw: Buffer.from(raw).toString('base64') }))
}

function withoutRaw(reading: Reading): unknown {
  return reading.kind === 'damage'
    ? reading
    : plain({ kind: 'entry', entry: { ...reading.entry, raw: NO_BYTES } })
}

const NO_BYTES = new Uint8Array(0)

function outline(passage: Passage): unknown {
  if (passage.kind === 'damage') return passage
  const { id, kind, offPath } = passage
  return { id, kind, offPath, entries: passage.entries.map((entry) => entry.id) }
}

function wayOf(readings: readonly Reading[]): Way {
  const chain = createChain()
  for (const entry of readings.flatMap(entryOf)) chain.add(entry)
  return chain.finish()
}

/** The entry, if it is one. */
export function entryOf(reading: Reading): readonly Entry[] {
  return reading.kind === 'entry' ? [reading.entry] : []
}
