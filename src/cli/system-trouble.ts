import { findSystemRefusal, string, ThroughlineError } from '#base'

/** An error of the system as a sentence with a next step; nothing for any other error. */
export function toSystemTrouble(error: unknown): ThroughlineError | undefined {
  const syscall = string(error, 'syscall')
  const refusal = findSystemRefusal(error)
  if (syscall === undefined || refusal === undefined) return undefined
  const path = string(error, 'path')
  const verb = VERBS[syscall] ?? 'use'
  const where = path === undefined ? `cannot ${verb}` : `cannot ${verb} ${path}`
  return new ThroughlineError(
    WRITES.has(syscall) ? 'output-unwritable' : 'internal',
    `${where}: ${refusal.says}`,
    {
      hint: refusal.hint,
      cause: error,
    },
  )
}

const VERBS: Readonly<Record<string, string>> = {
  scandir: 'read',
  read: 'read',
  mkdir: 'make',
  rmdir: 'remove',
  unlink: 'remove',
  rename: 'write',
  write: 'write',
  open: 'open',
}

const WRITES: ReadonlySet<string> = new Set([
  'write',
  'mkdir',
  'rename',
  'link',
  'unlink',
  'fsync',
  'fdatasync',
])
