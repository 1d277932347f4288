import { randomUUID } from 'node:crypto'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** What the recorder asks of the machine where its caller did not say: a library has no room above it that could. */
export const now = (): number => Date.now()

export const newUuid = (): string => randomUUID()

/** Where Throughline keeps what is its own. */
export function homeFolder(): string {
  return resolve(process.env['THROUGHLINE_HOME'] || join(homedir(), '.throughline'))
}
