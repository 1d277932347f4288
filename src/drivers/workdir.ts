import { statSync } from 'node:fs'
import { ThroughlineError } from '#base'

/** Without this, a folder that is not there looks like a program that is not there. */
export function checkWorkdir(workdir: string): void {
  if (statSync(workdir, { throwIfNoEntry: false })?.isDirectory() === true) return
  throw new ThroughlineError('request-invalid', `there is no folder ${workdir}`, {
    hint: 'Choose a folder that is there.',
  })
}
