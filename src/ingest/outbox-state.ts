import { readFile } from 'node:fs/promises'
import { isObject, list, number, object, parseJson, string } from '#base'
import { replaceFile } from '#journal'

/** How far a file is shipped. */
export interface Shipped {
  /** Which file it was, and how often it was written anew. */
  readonly identity: string
  readonly generation: number
  /** Everything before this offset is in the log. */
  readonly offset: number
  /** Tells whether what was shipped is still there. */
  readonly guard: string
  /** The same of a last line behind it that was shipped without its newline. */
  readonly open?: string | undefined
}

/** A line that did not leave this machine, and why. */
export interface Held {
  readonly path: string
  readonly offset: number
  readonly length: number
  readonly reason: string
}

/**
 * What the outbox knows of files. It is a hint: lost or old, lines are sent again, and are there once. So it is written
 * now and then, and not for every line.
 */
export interface OutboxState {
  find(path: string): Shipped | undefined
  set(path: string, shipped: Shipped): void
  forget(path: string): void
  readonly held: readonly Held[]
  hold(held: Held): void
  save(): Promise<void>
}

const MOST_HELD = 1000

/** `log`: which one it is about. What is known of another one is of no use. */
export async function openOutboxState(path: string, log = ''): Promise<OutboxState> {
  const text = await readFile(path, 'utf8').catch(() => '{}')
  const known = parseJson(text)
  const stored = (string(known, 'log') ?? '') === log ? known : undefined
  const files = new Map<string, Shipped>()
  for (const [name, value] of Object.entries(object(stored, 'files') ?? {})) {
    const shipped = readShipped(value)
    if (shipped !== undefined) files.set(name, shipped)
  }
  const held = new Map<string, Held>()
  for (const value of isObject(stored) ? list(stored, 'held') : []) {
    const found = readHeld(value)
    if (found !== undefined) held.set(keyOf(found), found)
  }
  let isDirty = false
  return {
    find: (name) => files.get(name),
    set(name, shipped) {
      files.set(name, shipped)
      isDirty = true
    },
    forget(name) {
      isDirty = files.delete(name) || isDirty
    },
    get held() {
      return [...held.values()]
    },
    hold(line) {
      if (held.size >= MOST_HELD) return
      held.set(keyOf(line), line)
      isDirty = true
    },
    async save() {
      if (!isDirty) return
      isDirty = false
      const content = JSON.stringify({ log, files: Object.fromEntries(files), held: [...held.values()] })
      await replaceFile(path, content).catch((error: unknown) => {
        isDirty = true
        throw error
      })
    },
  }
}

function keyOf({ path, offset }: Held): string {
  return `${offset} ${path}`
}

function readShipped(value: unknown): Shipped | undefined {
  const [identity, guard] = [string(value, 'identity'), string(value, 'guard')]
  const [generation, offset] = [number(value, 'generation'), number(value, 'offset')]
  if (identity === undefined || guard === undefined || generation === undefined || offset === undefined) {
    return undefined
  }
  const open = string(value, 'open')
  return { identity, guard, generation, offset, ...(open === undefined ? {} : { open }) }
}

function readHeld(value: unknown): Held | undefined {
  const [path, reason] = [string(value, 'path'), string(value, 'reason')]
  const [offset, length] = [number(value, 'offset'), number(value, 'length')]
  if (path === undefined || reason === undefined || offset === undefined || length === undefined)
    return undefined
  return { path, reason, offset, length }
}
