import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing'
import { createUnpacker } from './unpacker.ts'

const TEXT = `${'data: {"a":"äöü🙂"}\n\n'.repeat(40)}the end`

async function unpack(
  encoding: string | undefined,
  chunks: readonly Uint8Array[],
): Promise<{ readonly text: string; readonly isSound: boolean }> {
  const found: Uint8Array[] = []
  const unpacker = createUnpacker(encoding, (bytes) => found.push(Uint8Array.from(bytes)))
  for (const chunk of chunks) unpacker.add(chunk)
  const isSound = await unpacker.end()
  return { text: Buffer.concat(found).toString('latin1'), isSound }
}

const WHOLE = Buffer.from(TEXT).toString('latin1')

const PACKED: readonly (readonly [string | undefined, Uint8Array])[] = [
  ['gzip', gzipSync(TEXT)],
  ['x-gzip', gzipSync(TEXT)],
  ['GZIP', gzipSync(TEXT)],
  [undefined, gzipSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['deflate', deflateRawSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
  ['identity', Buffer.from(TEXT)],
  [undefined, Buffer.from(TEXT)],
  ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
]

test.each(PACKED)('[STR3] %s is unpacked, in one piece and byte by byte', async (encoding, bytes) => {
  expect(await unpack(encoding, [bytes])).toEqual({ text: WHOLE, isSound: true })
  const single = [...bytes].map((byte) => Uint8Array.of(byte))
  expect(await unpack(encoding, single)).toEqual({ text: WHOLE, isSound: true })
})

test('[STR3] what was cut or damaged gives a beginning of the whole, and is told', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...PACKED),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async ([encoding, bytes], where) => {
        const { text } = await unpack(encoding, [bytes.subarray(0, Math.floor(bytes.length * where))])
        expect(WHOLE.startsWith(text)).toBe(true)
      },
    ),
    runs(60),
  )
  const damaged = Buffer.from(gzipSync(TEXT))
  damaged.fill(0xff, 12, 30)
  expect(await unpack('gzip', [damaged])).toMatchObject({ isSound: false })
})

test('[STR3] a stream that is flushed now and then gives everything up to where it was cut', async () => {
  const gzip = createGzip()
  const chunks: Buffer[] = []
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk))
  gzip.write('data: first\n\n')
  await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve))
  gzip.write('data: second\n\n')
  await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve))
  expect(await unpack('gzip', chunks)).toEqual({ text: 'data: first\n\ndata: second\n\n', isSound: true })
  gzip.destroy()
})

test('[STR3] a packing that nobody knows gives nothing, and is told', async () => {
  expect(await unpack('compress', [Buffer.from(TEXT)])).toEqual({ text: '', isSound: false })
  expect(await unpack('zstd', [Buffer.from('not zstd at all')])).toMatchObject({ text: '', isSound: false })
})
