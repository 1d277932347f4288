import { findNearest } from '#base'
import { NATIVE_AGENTS } from '#model'
import { safeLine } from '#render'
import type { Throughline } from '#wire'
import type { Console } from './console.ts'

/** Says of agents that no session is of and that are not known either: a filter with a typing error finds nothing. */
export async function sayUnknownAgents(
  throughline: Throughline,
  asked: string | readonly string[],
  console: Console,
): Promise<void> {
  const names = [asked].flat().map((name) => name.toLowerCase())
  if (names.every((name) => NATIVE_AGENTS.some((known) => known === name))) return
  const { sessions } = await throughline.list()
  const known = [...new Set([...NATIVE_AGENTS, ...sessions.map(({ agent }) => agent)])]
  for (const name of names.filter((one) => !known.some((agent) => agent.toLowerCase() === one))) {
    const near = findNearest(name, known)
    const next =
      near === undefined ? `there are ${known.map(safeLine).join(', ')}` : `did you mean ${safeLine(near)}?`
    console.say(`note: no agent is called "${safeLine(name)}"; ${next}`)
  }
}
