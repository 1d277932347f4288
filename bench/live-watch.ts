import { closeSync, fstatSync, openSync, readSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import { LiveTally } from './live-tally.ts'

/** The limit: a process that does nothing but watch one folder and read what a file has grown by. */
export function watchAlone({ path, from }: { readonly path: string; readonly from: number }): {
  report(): object
} {
  const tally = new LiveTally(1, from)
  const fd = openSync(path, 'r')
  const name = basename(path)
  const buffer = Buffer.allocUnsafe(1 << 20)
  let position = fstatSync(fd).size
  const watcher = watch(dirname(path), (_event, changed) => {
    if (changed !== name) return
    const got = readSync(fd, buffer, 0, buffer.length, position)
    position += got
    if (got > 0) tally.take(0, buffer.subarray(0, got))
  })
  return {
    report() {
      watcher.close()
      closeSync(fd)
      return tally.report()
    },
  }
}
