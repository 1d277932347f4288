import { promises as files } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

/** What becomes of an operation: an error, or the death of the process (of a write in the middle of it). */
type Fault = 'EIO' | 'ENOSPC' | 'kill'

/** A disk whose operations are counted, and of which one fails. */
export interface FailingDisk {
  /** From now on operations are counted; the n-th fails. */
  arm(n: number, fault: Fault): void
  /** Nothing fails any more. Tells whether something did. */
  disarm(): 'hit' | 'spared'
  /** Operations since the disk was broken. */
  count(): number
}

type Operation = (...args: unknown[]) => Promise<unknown>

const CALLS = [
  'open',
  'mkdir',
  'rename',
  'unlink',
  'link',
  'writeFile',
  'readdir',
  'stat',
  'lstat',
  'realpath',
]
const METHODS = ['read', 'write', 'writeFile', 'truncate', 'datasync', 'sync', 'stat']

/** Puts itself between this process and its files, for good: only for processes that do nothing else. */
export async function breakDisk(scratch: string): Promise<FailingDisk> {
  let left = Number.POSITIVE_INFINITY
  let counted = 0
  let fault: Fault = 'EIO'
  let outcome: 'hit' | 'spared' = 'spared'

  function wrap(target: object, name: string): void {
    const real: unknown = Reflect.get(target, name)
    if (typeof real !== 'function') throw new Error(`there is no ${name} to wrap`)
    const call: Operation = async function (this: unknown, ...args) {
      left -= 1
      counted += 1
      if (left === 0) await fail(async () => await Reflect.apply(real, this, halved(name, args)))
      return await Reflect.apply(real, this, args)
    }
    Reflect.set(target, name, call)
  }

  async function fail(halfWay: () => Promise<unknown>): Promise<never> {
    outcome = 'hit'
    if (fault !== 'kill') throw Object.assign(new Error(`${fault}: made up`), { code: fault })
    await halfWay().catch(() => {})
    process.kill(process.pid, 'SIGKILL')
    return await new Promise(() => {})
  }

  const handle = await files.open(join(scratch, 'scratch'), 'w')
  const prototype: unknown = Object.getPrototypeOf(handle)
  await handle.close()
  if (typeof prototype !== 'object' || prototype === null) throw new Error('a file has no methods')
  for (const name of METHODS) wrap(prototype, name)
  for (const name of CALLS) wrap(files, name)
  syncBuiltinESMExports()

  return {
    arm(n, which) {
      left = n
      fault = which
      outcome = 'spared'
    },
    disarm() {
      left = Number.POSITIVE_INFINITY
      return outcome
    },
    count: () => counted,
  }
}

/** A write is killed after half of its bytes; whatever else is killed has been done. */
function halved(name: string, args: readonly unknown[]): readonly unknown[] {
  const [buffer, offset, length] = args
  return name === 'write' && typeof length === 'number' ? [buffer, offset, length >> 1] : args
}
