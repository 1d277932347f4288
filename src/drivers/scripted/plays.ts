/**
 * Prompts in plain words that the scripted agent knows what to do with, so that whoever tries it sees a session as it
 * would be, and not its directions.
 */
const PLAYS: Readonly<Record<string, string>> = {
  'Show me what a live session is like.': `
[[slow 35]]
[[think Somebody wants to see what this is like. I shall say hello, run something harmless, and ask what they prefer.]]
[[say Hello! I am a scripted agent: no account, no model, and everything else is real. I would like to run a small command in this demo folder. **You decide** whether it runs.]]
[[tool Bash {"command":"echo \\"Hello from a live session\\" > hello.txt && cat hello.txt","description":"Writes a greeting to a file and reads it"}]]
[[slow 35]]
[[say That ran because you allowed it. Agents ask questions, too:]]
[[ask What would you like to look at next? | The board with everything that runs | A session of my own | Nothing for now]]
[[slow 35]]
[[say Thank you. Everything that happened here is in the transcript of this session; it stays when you close the page. Write something below to go on.]]`,
  'The clock test fails at midnight. Find out why and fix it.': `
[[slow 15]]
[[think It compares days. At midnight the two sides may stand on different days, so one of them is probably local time.]]
[[say The test compares a local day with one in UTC, so it fails for as many hours as your clock is ahead. I shall write the day in UTC on both sides.]]
[[tool Write {"file_path":"clock.test.ts","content":"import { expect, test } from 'vitest'\\nimport { today } from './clock.ts'\\n\\ntest('today is a day in UTC', () => {\\n  expect(today(new Date('2026-11-15T23:30:00Z'))).toBe('2026-11-15')\\n})\\n"}]]
[[slow 15]]
[[say Then the tests, twice: once here and once as if this machine stood in Auckland.]]
[[tool Bash {"command":"npm test -- clock && TZ=Pacific/Auckland npm test -- clock","description":"Run the clock tests in two time zones"}]]
[[slow 15]]
[[say Both pass. The test no longer depends on where it runs.]]`,
  'Make the tide forecast cover the second harbour too.': `
[[slow 15]]
[[say There are two stations that could be meant, and their tables differ by twenty minutes.]]
[[ask Which harbour should the forecast cover? | The old harbour | The new harbour | Both, side by side]]
[[slow 15]]
[[say Good, I shall read its table and leave the first one as it is.]]`,
  'Bring all dependencies up to date, one at a time.': `
[[slow 120]]
[[say I go through them one by one and run the tests after each. Eleven are out of date; the first is a patch release without notes, so I expect nothing of it. While the tests run I read the notes of the second: it drops a version of Node that is not used here, and renames one option, which occurs twice in the configuration. I shall change both places in the same commit, so that each of them can be taken back alone.]]
[[hang]]`,
}

/** The cues of a prompt that is known, or nothing. */
export function findPlay(prompt: string): string | undefined {
  const words = prompt.trim()
  return Object.hasOwn(PLAYS, words) ? PLAYS[words] : undefined
}
