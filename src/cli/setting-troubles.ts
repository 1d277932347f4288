import { findSettingTroubles } from '#app'
import { ThroughlineError } from '#base'
import { safeLine } from '#render'
import type { Console } from './console.ts'

/** Their standard error belongs to an agent, or they tell of it in another place. */
const QUIET: ReadonlySet<string> = new Set(['mcp', 'status'])
/** They are wrong without their settings: what cannot be used is an error, and told once. */
const NEED: ReadonlySet<string> = new Set(['run', 'team', 'wake-up'])

/**
 * Says what is wrong in `config.json`, with every command: one that goes on without the settings does something else
 * than was meant. Throws `config-invalid` where a command would say something false.
 */
export async function saySettingTroubles(command: string, home: string, console: Console): Promise<void> {
  if (QUIET.has(command)) return
  const wrong = await sayTroubles(home, console, NEED.has(command))
  if (wrong !== undefined) throw wrong
}

/** Says them all; with `refuses`, what makes the file unusable is given back as an error instead. */
export async function sayTroubles(
  home: string,
  console: Console,
  refuses = false,
): Promise<ThroughlineError | undefined> {
  for (const { message, hint, isUnknown } of await findSettingTroubles(home)) {
    if (refuses && !isUnknown) return new ThroughlineError('config-invalid', message, { hint })
    console.say(`note: ${safeLine(message)}`)
    console.say(`next: ${safeLine(hint)}`)
  }
  return undefined
}
