import { open, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setInterval } from 'node:timers'
import { placeOf, type Reading } from '#model'
import { createLines, openTempDir, readAll, toJsonl, type TempDir } from '#testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readBackward } from '../backward.ts'
import { createClaudeSource } from '../claude/source.ts'
import { endOfLines } from '../line-end.ts'
import { formatOf } from '../format-of.ts'
import { findLineAt, findTimeLine } from '../places.ts'
import { readPageAfter, readPageBefore } from '../pages.ts'
import { openTranscript, type Meter } from '../transcript-file.ts'

const TB = 1024 ** 4
const MB = 1024 ** 2

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
})
afterAll(() => dir.remove())

const lines = createLines()
const before = Buffer.from(
  toJsonl([lines.prompt('before the zeros'), lines.reply([{ type: 'text', text: 'yes' }])]),
)
const after = Buffer.from(toJsonl([lines.prompt('behind the zeros')]))

interface Sparse {
  readonly path: string
  readonly zeros: { readonly offset: number; readonly length: number }
}

/** Lines, a hole up to `size`, and more lines behind it. */
async function makeSparse(name: string, size: number, isGrown: boolean): Promise<Sparse> {
  const path = join(dir.path, `${name}.jsonl`)
  await writeFile(path, before)
  await truncate(path, size)
  if (isGrown) await append(path, after, size)
  return { path, zeros: { offset: before.length, length: size - before.length } }
}

async function append(path: string, bytes: Buffer, at: number): Promise<void> {
  const file = await open(path, 'r+')
  await file.write(bytes, 0, bytes.length, at)
  await file.close()
}

async function readAllBackward(path: string, meter: Meter): Promise<readonly Reading[]> {
  const file = openTranscript(path, meter)
  try {
    const batches: (readonly Reading[])[] = []
    for await (const { readings } of readBackward(file, formatOf(path))) batches.push(readings)
    return batches.toReversed().flat()
  } finally {
    file.close()
  }
}

function kindsOf(readings: readonly Reading[]): readonly unknown[] {
  return readings.map((reading) =>
    reading.kind === 'damage' ? reading.damage : [reading.entry.kind, placeOf(reading).offset],
  )
}

describe('a file with a hole', () => {
  test.each([
    { name: 'at its end', isGrown: false },
    { name: 'in the middle', isGrown: true },
  ])(
    '[READ23] of a terabyte $name costs a few megabytes to read from either end',
    async ({ name, isGrown }) => {
      const { path, zeros } = await makeSparse(`hole-${isGrown}`, TB, isGrown)
      const meter = { bytesRead: 0 }
      const forward = await readAll(path, {}, meter)
      const backward = await readAllBackward(path, meter)
      const [prompt, reply, damage, ...rest] = kindsOf(forward)
      expect({ name, damage, rest: rest.length }).toEqual({
        name,
        damage: { ...zeros, reason: 'nul-run' },
        rest: isGrown ? 1 : 0,
      })
      expect([prompt, reply]).toEqual([
        ['prompt', 0],
        ['reply', expect.any(Number)],
      ])
      expect(kindsOf(backward)).toEqual(kindsOf(forward))
      expect(meter.bytesRead).toBeLessThan(16 * MB)
    },
  )

  test('[READ23] is passed over by the list, pages, places, and the end of its lines', async () => {
    const { path, zeros } = await makeSparse('places', TB, true)
    const meter = { bytesRead: 0 }
    const file = openTranscript(path, meter)
    const format = formatOf(path)
    const first = await readPageBefore(file, format, { limit: 1 })
    const second = await readPageBefore(file, format, { limit: 2, before: first.start })
    const onward = await readPageAfter(file, format, { limit: 1, after: zeros.offset })
    expect({
      first: kindsOf(first.readings),
      second: kindsOf(second.readings).length,
      onward: kindsOf(onward.readings).length,
      end: await endOfLines(file),
      middle: await findLineAt(file, TB / 2),
      never: await findTimeLine(file, format, Date.parse('2100-01-01')),
    }).toEqual({
      first: [['prompt', TB]],
      second: 3,
      onward: 2,
      end: file.size,
      middle: zeros.offset,
      never: file.size,
    })
    file.close()
    expect(meter.bytesRead).toBeLessThan(16 * MB)
  })

  test('[READ23] costs a list a few kilobytes, and the last line before it tells when it was', async () => {
    const { path } = await makeSparse('listed', TB, false)
    const meter = { bytesRead: 0 }
    const seen = createClaudeSource(dir.path, meter).look({ id: 'listed', path })
    expect({ state: seen.state, prompt: seen.firstPrompt, last: seen.lastActivityAt !== undefined }).toEqual({
      state: 'damaged',
      prompt: 'before the zeros',
      last: true,
    })
    expect(meter.bytesRead).toBeLessThan(MB)
  })

  test('[READ23] hides no line that stands in the middle of it', async () => {
    const { path } = await makeSparse('island', 512 * MB, true)
    await append(path, after, 200 * MB)
    await append(path, after, 300 * MB + 17)
    const meter = { bytesRead: 0 }
    const forward = kindsOf(await readAll(path, {}, meter))
    expect(forward.filter((each) => Array.isArray(each))).toEqual([
      ['prompt', 0],
      ['reply', expect.any(Number)],
      ['prompt', 200 * MB],
      ['prompt', 300 * MB + 17],
      ['prompt', 512 * MB],
    ])
    expect(kindsOf(await readAllBackward(path, meter))).toEqual(forward)
  })

  test('[READ23] that grows behind the hole is not searched again for it', async () => {
    const { path } = await makeSparse('grown', TB, true)
    await readAll(path)
    for (const round of [1, 2, 3]) {
      await append(path, after, TB + round * after.length)
      const meter = { bytesRead: 0 }
      const file = openTranscript(path, meter)
      expect(await endOfLines(file, TB)).toBe(before.length)
      expect(meter.bytesRead).toBeLessThan(8 * MB)
      file.close()
    }
  })
})

test('[READ23] zero bytes that take room on the disk let other work in, and are one piece of damage', async () => {
  const path = join(dir.path, 'zero-filled.jsonl')
  await writeFile(path, before)
  const file = await open(path, 'a')
  const zeros = Buffer.alloc(16 * MB)
  for (let n = 0; n < 16; n++) await file.write(zeros)
  await file.write(after)
  await file.close()
  let turns = 0
  const counting = setInterval(() => turns++, 1)
  const meter = { bytesRead: 0 }
  const forward = kindsOf(await readAll(path, {}, meter))
  clearInterval(counting)
  const damage = { offset: before.length, length: 256 * MB, reason: 'nul-run' }
  expect(forward.slice(2)).toEqual([damage, ['prompt', before.length + 256 * MB]])
  expect(kindsOf(await readAllBackward(path, meter))).toEqual(forward)
  expect(turns).toBeGreaterThan(5)
  // Once each way, and a piece or two.
  expect(meter.bytesRead).toBeLessThan(2 * (256 + 8) * MB)
})
