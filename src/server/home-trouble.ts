import { sep } from 'node:path'
import { number, string, ThroughlineError } from '#base'

/** By what the system says. Node says `ENOENT` when it makes folders where it may not. */
const TROUBLES: Readonly<Record<string, (home: string) => string>> = {
  EROFS: (home) => `${home} is on a file system that takes no change`,
  EACCES: (home) => `nothing may be written to ${home}`,
  EPERM: (home) => `nothing may be written to ${home}`,
  ENOSPC: (home) => `there is no room left for ${home}`,
  EDQUOT: (home) => `there is no room left for ${home}`,
  ENOTDIR: (home) => `${home} is no folder, and none can be made there`,
  ENOENT: (home) => `no folder can be made in ${home}`,
  EEXIST: (home) => `${home} is no folder, and none can be made there`,
}

/** What to throw for an error of the system that kept a daemon from using its home; any other error is itself. */
export function toHomeTrouble(error: unknown, home: string): unknown {
  if (error instanceof ThroughlineError) return error
  const code = string(error, 'code') ?? ''
  if (code === 'ENOENT' && string(error, 'syscall') !== 'mkdir') return error
  const describe = TROUBLES[code]
  // A port that is not allowed has nothing to do with the home.
  if (describe === undefined || (number(error, 'port') ?? 0) > 0) return error
  const path = string(error, 'path')
  if (path !== undefined && path !== home && !path.startsWith(home + sep)) return error
  return new ThroughlineError('config-invalid', describe(home), {
    hint: 'The daemon keeps its files there: make it writable, or choose another folder with THROUGHLINE_HOME. `throughline ls`, `show` and `search` work without a daemon.',
    cause: error,
  })
}
