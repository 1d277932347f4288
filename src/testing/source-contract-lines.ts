import { createBilling, placeOf, transcriptsOf, type Reading } from '#model'
import {
  cursorAt,
  findEntryLine,
  findLineAt,
  offsetOf,
  openTranscript,
  readBackward,
  readForward,
  readPageAfter,
  readPageBefore,
  type LineFormat,
  type Page,
  type Source,
  type TranscriptFile,
} from '#sources'
import type { Suite } from './contract-suite.ts'
import type { WithPlace } from './source-contract.ts'

/** An open transcript with all that it reads as. */
interface Transcript {
  readonly file: TranscriptFile
  readonly format: LineFormat
  readonly source: Source
  readonly all: readonly Reading[]
}

/** What every source promises of the lines of its transcripts. */
export function describeSourceLines({ expect, test }: Suite, withPlace: WithPlace): void {
  /** Every transcript of a place, those of subagents too. */
  const forEach = (use: (transcript: Transcript) => Promise<void>): Promise<void> =>
    withPlace(async ({ open }) => {
      const source = open()
      const { sessions } = await source.list()
      for (const path of sessions.flatMap(transcriptsOf)) {
        const file = openTranscript(path)
        try {
          const all: Reading[] = []
          for await (const { readings } of readForward(file, source.format)) all.push(...readings)
          await use({ file, format: source.format, source, all })
        } finally {
          file.close()
        }
      }
    })

  test('[SRC9] every entry gives back its bytes; entries, damage and white space are the whole file', () =>
    forEach(async ({ file, all }) => {
      const bytes = Buffer.alloc(file.size)
      expect(await file.read(bytes, file.size, 0)).toBe(file.size)
      let end = 0
      for (const reading of all) {
        const { offset, length } = placeOf(reading)
        expect(bytes.toString('utf8', end, offset).trim()).toBe('')
        if (reading.kind === 'entry')
          expect(bytes.subarray(offset, offset + length).equals(reading.entry.raw)).toBe(true)
        end = offset + length
      }
      expect(bytes.toString('utf8', end).trim()).toBe('')
      expect(all.length).toBeGreaterThan(0)
    }))

  test('[SRC10] pages of any size from either end, and reading backwards, are what reading forwards gives', () =>
    forEach(async ({ file, format, all }) => {
      const names = all.map(nameOf)
      const backward: (readonly string[])[] = []
      for await (const { readings } of readBackward(file, format)) backward.push(readings.map(nameOf))
      expect(backward.toReversed().flat()).toEqual(names)
      for (const limit of [1, 3, 1000]) {
        const down: Page[] = []
        for (let after = 0; after < file.size;) {
          const page = await readPageAfter(file, format, { limit, after })
          // A cursor names the place for whoever comes later.
          after = offsetOf(file, cursorAt(file, page.end))
          down.push(page)
        }
        expect(down.flatMap(({ readings }) => readings.map(nameOf))).toEqual(names)
        const up: Page[] = []
        for (let before = file.size; before > 0;) {
          const page = await readPageBefore(file, format, { limit, before })
          before = offsetOf(file, cursorAt(file, page.start))
          up.push(page)
        }
        expect(up.toReversed().flatMap(({ readings }) => readings.map(nameOf))).toEqual(names)
      }
    }))

  test('[SRC11] an entry is found by its id', () =>
    forEach(async ({ file, format, all }) => {
      const last = new Map<string, number>()
      for (const reading of all)
        if (reading.kind === 'entry') last.set(reading.entry.id, reading.entry.place.offset)
      for (const [id, offset] of last)
        expect(await findEntryLine(file, format, id)).toBe(await findLineAt(file, offset))
      expect(await findEntryLine(file, format, 'nobody-has-this-id')).toBeUndefined()
    }))

  test('[SRC12] bills and working directories are those that a full read finds', () =>
    forEach(async ({ file, source, all }) => {
      const entries = all.flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : []))
      const billing = createBilling()
      const billed = new Map(
        entries.flatMap((entry) => {
          const { key, usage } = billing.add(entry) ?? {}
          return key !== undefined && usage !== undefined ? [[key, usage] as const] : []
        }),
      )
      const { messages } = await source.createBillReader().read(file)
      expect(new Map(messages.map(({ key, usage }) => [key, usage]))).toEqual(billed)
      const workdirs = new Set(entries.flatMap(({ cwd }) => cwd ?? []))
      const found = new Set(await source.findWorkdirs(file.path))
      expect([...workdirs].filter((each) => !found.has(each))).toEqual([])
    }))
}

function nameOf(reading: Reading): string {
  const { offset, length } = placeOf(reading)
  return `${offset} ${length} ${reading.kind === 'entry' ? reading.entry.id : reading.damage.reason}`
}
