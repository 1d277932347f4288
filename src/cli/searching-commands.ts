import type { CommandSpec } from './command.ts'
import { JSON_OPTION } from './reading-commands.ts'

/** The commands that ask across sessions. */
export const searchingCommands: readonly CommandSpec[] = [
  {
    name: 'search',
    summary: 'Find words in everything that was said, thought, run and printed.',
    description:
      'Words must all occur, in any order. "A phrase" is taken as it is, pre* means everything that begins so, -word means without it, OR means either. ' +
      'Facets narrow it: agent:claude, workdir:~/shop, session:7d0c, role:user|assistant, speaker:human|program, tool:Bash, kind:prompt, after:2026-01-01, before:, on:, has:error|directive, in:said|thought|tool. ' +
      'What people and agents said comes first, then thinking, then tools; the newest first among equals. Each hit ends with the line that shows it.',
    args: [{ name: 'query', summary: 'Words, phrases and facets.', required: true, many: true }],
    options: [
      { name: 'limit', value: 'n', summary: 'At most this many hits. Default: 10.' },
      { name: 'cursor', value: 'cursor', summary: 'Go on where a former search ended; it prints the line.' },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline search flaky test', says: 'both words, anywhere' },
      {
        line: `throughline search '"connection reset" tool:Bash has:error'`,
        says: 'a phrase in what a command printed',
      },
      {
        line: 'throughline search parseLine in:said after:2026-01-01',
        says: 'a symbol, in words, this year',
      },
      { line: 'throughline search retry -- -backoff', says: 'the one without the other' },
    ],
    exits: [
      [0, 'something was found'],
      [1, 'nothing was found, or it failed'],
    ],
  },
  {
    name: 'usage',
    summary: 'Count tokens, and what they cost.',
    description:
      'Every message of a model is counted once, however often a transcript repeats it. Costs are at list prices of a dated list; tokens of models that are not on it are counted and not priced.',
    args: [],
    options: [
      {
        name: 'by',
        value: 'what',
        values: ['day', 'model', 'workdir', 'session'],
        summary: 'One line for each of these. Default: day.',
      },
      { name: 'since', value: 'day', summary: 'From this day on: 2026-01-31, or an age: 7d, 3mo.' },
      { name: 'until', value: 'day', summary: 'Up to this day, inclusive; or an age.' },
      { name: 'workdir', value: 'folder', summary: 'Only what was spent in this folder or below it.' },
      { name: 'all-machines', summary: 'What you used on all of your machines, where there is a team.' },
      { name: 'utc', summary: 'Days begin and end in UTC instead of your time zone.' },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline usage', says: 'day by day' },
      { line: 'throughline usage --by model --since 2026-01-01', says: 'this year, by model' },
      { line: 'throughline usage --by session --workdir .', says: 'what this folder cost' },
    ],
  },
  {
    name: 'wake-up',
    summary: 'Print what a session begun now would be told.',
    description:
      'The last session of the folder, and what is remembered that matters there, within a budget. Sessions that are begun here get it by themselves, and those in a terminal once Claude Code is connected; any other agent can be given this text. Nothing is written.',
    args: [],
    options: [
      { name: 'workdir', value: 'folder', summary: 'For a session in this folder. Default: this one.' },
      { name: 'agent', value: 'agent', summary: 'For this agent. Default: claude.' },
      {
        name: 'format',
        value: 'format',
        values: ['xml', 'md'],
        summary: 'As agents get it, or to be read. Default: xml.',
      },
      { name: 'prompt', value: 'words', summary: 'What is going to be asked: what suits it comes first.' },
      { name: 'without-team', summary: 'Without what others of the team share.' },
      { name: 'receipt', summary: 'Say what went in, what stayed out, and why.' },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline wake-up', says: 'for this folder' },
      { line: 'throughline wake-up --format md --receipt', says: 'to read, with what stayed out' },
      { line: 'throughline wake-up --agent codex | codex exec -', says: 'for an agent that runs elsewhere' },
    ],
  },
]
