import { isObject, parseJson } from '#base'
import { BLOBS_FIELD, putBlobsBack, type DamageReason, type Entry } from '#model'
import { claudeFormat } from '../claude/read-line.ts'
import { ObjectScanner } from '../object-scanner.ts'
import type { LineFormat, RecordPlace } from '../source.ts'
import { createBlobReader } from './blobs.ts'

/**
 * How the lines of recordings and of Entire's copies read: as Claude Code's do. What a recorder has put into files of
 * its own is back in its place in what is read; `raw` stays the line as it is on disk.
 */
export const entireFormat: LineFormat = {
  keys: [...claudeFormat.keys, BLOBS_FIELD],
  ...(claudeFormat.inner === undefined ? {} : { inner: claudeFormat.inner }),
  elsewhere: Buffer.from(`"${BLOBS_FIELD}":[`),
  createReader(scanner) {
    const records = claudeFormat.createReader(scanner)
    const whole = new ObjectScanner(claudeFormat.keys, claudeFormat.inner)
    const wholeRecords = claudeFormat.createReader(whole)
    let lacking: DamageReason | undefined

    function readWhole(bytes: Buffer, record: RecordPlace, path: string): Entry | undefined {
      const line = parseJson(bytes.toString('utf8', record.from, record.to))
      if (!isObject(line)) return undefined
      const blobs = createBlobReader(path)
      const { line: filled } = putBlobsBack(line, (reference) => blobs.read(reference))
      lacking = blobs.damage
      const json = Buffer.from(JSON.stringify(filled))
      if (whole.scan(json, 0, json.length) < 0) return undefined
      const { from, to, offset } = record
      return {
        ...wholeRecords.readRecord(json, { from: 0, to: json.length, offset, path }),
        place: { offset, length: to - from },
        raw: new Uint8Array(bytes.buffer, bytes.byteOffset + from, to - from),
      }
    }

    return {
      isRecord: () => records.isRecord(),
      lacking: () => lacking,
      readRecord(bytes, record) {
        lacking = undefined
        const { path } = record
        const hasBlobs = (scanner.starts[BLOBS] ?? -1) >= 0
        const entry = hasBlobs && path !== undefined ? readWhole(bytes, record, path) : undefined
        return entry ?? records.readRecord(bytes, record)
      },
    }
  },
  readEnvelope: (values, place) => claudeFormat.readEnvelope(values, place),
}

const BLOBS = claudeFormat.keys.length
