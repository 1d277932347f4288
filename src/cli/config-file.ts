import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { field, ThroughlineError } from '#base'

/** A file of somebody's settings, as it is now. */
export interface ConfigFile {
  /** Where it is asked for. */
  readonly path: string
  /** Where it lies: behind links, if it is one. */
  readonly target: string
  /** `undefined` when there is none. */
  readonly text: string | undefined
  /** Its permissions; of one that is not there yet, those of a file for its owner only. */
  readonly mode: number
}

/** Reads it. Throws `config-invalid` for one that is no text, or leads nowhere. */
export function readConfigFile(path: string): ConfigFile {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return { path, target: path, text: undefined, mode: 0o600 }
  try {
    const target = realpathSync(path)
    // Byte for byte: what is no UTF-8 would come back as something else.
    const text = new TextDecoder('utf8', { fatal: true, ignoreBOM: true }).decode(readFileSync(target))
    return { path, target, text, mode: statSync(target).mode & 0o7777 }
  } catch (cause) {
    throw new ThroughlineError('config-invalid', `${path} cannot be read as text`, {
      hint: 'Look at it first: it may be a link that leads nowhere, a folder, or not yours. Nothing was changed.',
      cause,
    })
  }
}

/**
 * Writes it, or removes it. It is there whole, as it was or as it is to be, whatever happens meanwhile; links and
 * permissions stay. Throws `output-unwritable`, also when somebody else has just changed it.
 */
export function writeConfigFile(file: ConfigFile, text: string | undefined): void {
  const { path, target, mode } = file
  const temporary = `${target}.${randomBytes(6).toString('hex')}.tmp`
  try {
    if (text !== undefined) {
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
      writeNew(temporary, text, mode)
    }
    if (readConfigFile(path).text !== file.text) throw new Error('it was changed meanwhile')
    if (text === undefined) rmSync(target)
    else renameSync(temporary, target)
  } catch (cause) {
    rmSync(temporary, { force: true })
    throw new ThroughlineError('output-unwritable', `${path} could not be written: ${toReason(cause)}`, {
      hint: `See who may write there: ls -ld ${dirname(target)}. Then try again.`,
      cause,
    })
  }
}

function writeNew(path: string, text: string, mode: number): void {
  const descriptor = openSync(path, 'wx', mode)
  try {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  chmodSync(path, mode)
}

function toReason(error: unknown): string {
  const code = field(error, 'code')
  return typeof code === 'string' ? code : error instanceof Error ? error.message : String(error)
}
