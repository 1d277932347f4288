import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson, string } from '#base'
import type { TeamSelf } from '#model'

/** Who this machine is, for as long as the database does not answer. */
export function readSelf(dir: string, store: string): TeamSelf | undefined {
  try {
    const value = parseJson(readFileSync(join(dir, 'self.json'), 'utf8'))
    // Another team's: nothing that is here is of use.
    if (string(value, 'store') !== store) {
      rmSync(dir, { recursive: true, force: true })
      return undefined
    }
    const [team, person, machine] = [string(value, 'team'), string(value, 'person'), string(value, 'machine')]
    const [origin, said] = [string(value, 'origin'), string(value, 'role')]
    const role = (['viewer', 'member', 'admin'] as const).find((each) => each === said)
    if (team === undefined || person === undefined || machine === undefined) return undefined
    return origin === undefined || role === undefined ? undefined : { team, person, role, machine, origin }
  } catch {
    return undefined
  }
}

export function writeSelf(dir: string, store: string, self: TeamSelf): void {
  writeFileSync(join(dir, 'self.json'), JSON.stringify({ store, ...self }), { mode: 0o600 })
}
