import type { ArgSpec, CommandSpec, OptionSpec } from './command.ts'
import { JSON_OPTION, SESSION } from './reading-commands.ts'

const EVENTS: OptionSpec = { name: 'json', summary: 'Print what happens as JSON, one object per line.' }
const MODEL: OptionSpec = { name: 'model', value: 'name', summary: 'Default: the one the agent would take.' }
const MODE: OptionSpec = {
  name: 'mode',
  value: 'mode',
  values: ['plan', 'default', 'accept-edits'],
  summary: 'How much you are asked. Default: as the session had it, else default.',
}
const DETACH: OptionSpec = { name: 'detach', summary: 'Print its id and leave it alone.' }
const END: OptionSpec = { name: 'end', summary: 'End the session after the turn.' }
const DENY_ALL: OptionSpec = { name: 'deny-all', summary: 'Deny whatever is asked, instead of waiting.' }
const PROMPT: ArgSpec = {
  name: 'prompt',
  summary: 'The words; with - what is piped in.',
  required: false,
  many: true,
}
const ATTENTION: ArgSpec = {
  name: 'attention',
  summary: 'Its id, or the beginning of it.',
  required: true,
}
const TURN_EXITS = [
  [0, 'the turn was answered'],
  [1, 'it failed, or somebody else interrupted it'],
  [130, 'you pressed Ctrl-C: once to interrupt the turn, twice to leave it alone'],
] as const

/** The commands about sessions that are run now. */
export const liveCommands: readonly CommandSpec[] = [
  {
    name: 'run',
    summary: 'Start an agent, and show its answer as it comes.',
    description:
      'Without a prompt it goes on as a conversation. In a terminal you are asked what the agent asks; in a script the id of each question is said, and somebody answers it elsewhere. The session lives on in a process of its own: attach to it, or end it.',
    args: [PROMPT],
    options: [
      {
        name: 'agent',
        value: 'name',
        summary: 'claude, codex, gemini, opencode or scripted. Default: claude.',
      },
      { name: 'workdir', value: 'folder', summary: 'Default: the current one.' },
      MODEL,
      MODE,
      { name: 'trust', summary: 'Show what the folder would load, and ask whether it may.' },
      { name: 'no-wake-up', summary: 'Begin without what the last session here knew.' },
      DETACH,
      END,
      DENY_ALL,
      EVENTS,
    ],
    examples: [
      { line: 'throughline run fix the flaky test', says: 'here, with the agent of your choice' },
      { line: 'git diff | throughline run - --end', says: 'in a script' },
      { line: 'throughline run --detach "update the docs"', says: 'and look at it later' },
    ],
    exits: TURN_EXITS,
  },
  {
    name: 'attach',
    summary: 'Join a live session: read along, type prompts, answer.',
    description:
      'Shows the turn so far. A line that ends with a backslash goes on in the next one. Ctrl-C interrupts a turn, Ctrl-D leaves the session alone.',
    args: [SESSION],
    options: [EVENTS],
    examples: [{ line: 'throughline attach 7d0c1f3e', says: 'what is it doing?' }],
    exits: [
      [0, 'you left, or the session ended well'],
      [1, 'it did not'],
      [130, 'you pressed Ctrl-C twice in one turn'],
    ],
  },
  {
    name: 'send',
    summary: 'Give a live session a prompt.',
    description: 'It is on disk when this returns, and is taken up when the agent can.',
    args: [SESSION, PROMPT],
    options: [{ name: 'wait', summary: 'Show the answer, until the turn is over.' }, EVENTS],
    examples: [{ line: 'throughline send 7d0c1f3e now run the tests --wait', says: 'and wait for it' }],
    exits: TURN_EXITS,
  },
  {
    name: 'interrupt',
    summary: 'Stop the turn of a live session. The session goes on.',
    description: 'What it asked is withdrawn, and the tool that runs is ended.',
    args: [SESSION],
    options: [JSON_OPTION],
    examples: [{ line: 'throughline interrupt 7d0c1f3e', says: 'not like this' }],
  },
  {
    name: 'end',
    summary: 'End a live session: the agent and everything it started.',
    description: 'The transcript stays, and the session can be resumed.',
    args: [SESSION],
    options: [JSON_OPTION],
    examples: [{ line: 'throughline end 7d0c1f3e', says: 'enough' }],
  },
  {
    name: 'resume',
    summary: 'Go on with a session, or with a copy of it.',
    description:
      'A session that is alive elsewhere is refused with who holds it. Without a prompt it goes on as a conversation; in a script it is only taken up.',
    args: [SESSION, PROMPT],
    options: [
      {
        name: 'in',
        value: 'agent',
        values: ['claude', 'codex', 'gemini', 'opencode'],
        summary: 'Go on in another agent: as a native session of its own, with what is lost told first.',
      },
      { name: 'yes', summary: 'With --in: go on whatever is lost.' },
      { name: 'take-over', summary: 'End whoever holds it first.' },
      { name: 'fork', summary: 'Go on with a copy.' },
      { name: 'at', value: 'entry', summary: 'Copy only up to this entry. Means --fork.' },
      { name: 'workdir', value: 'folder', summary: 'Where it goes on, when its folder is gone.' },
      MODEL,
      MODE,
      DETACH,
      END,
      DENY_ALL,
      EVENTS,
    ],
    examples: [
      { line: 'throughline resume 7d0c1f3e where were we?', says: 'go on' },
      { line: 'throughline resume 7d0c1f3e --fork try it the other way', says: 'and keep the first' },
      { line: 'throughline resume 7d0c1f3e --in codex', says: 'the same conversation, another agent' },
    ],
    exits: TURN_EXITS,
  },
  {
    name: 'board',
    summary: 'List the sessions that are run here, and those that wait for you.',
    description: 'Those that wait come first. Sessions in other terminals appear while they ask something.',
    args: [],
    options: [JSON_OPTION],
    examples: [{ line: 'throughline board', says: 'who is at it?' }],
  },
  {
    name: 'attentions',
    summary: 'List what waits for you, or show one of them whole.',
    description: 'Permissions and questions of all sessions, oldest first.',
    args: [{ ...ATTENTION, required: false }],
    options: [
      { name: 'watch', summary: 'Tell each one when it opens and when it is over, until Ctrl-C.' },
      { name: 'json', summary: 'Print JSON for programs; with --watch one object per line.' },
    ],
    examples: [
      { line: 'throughline attentions', says: 'who waits?' },
      { line: 'throughline attentions 3f9c2a', says: 'exactly what would run' },
    ],
  },
  {
    name: 'answer',
    summary: 'Answer what a session asks.',
    description:
      'The first answer counts. Nothing beyond this once is allowed unless you choose its rule; the numbers are those that `attentions <id>` shows.',
    args: [
      ATTENTION,
      {
        name: 'decision',
        summary: 'allow, deny, session, always; for a question: answer.',
        required: true,
        values: ['allow', 'deny', 'session', 'always', 'answer'],
      },
    ],
    options: [
      {
        name: 'rule',
        value: 'n',
        summary: 'Which rule, for session and always. May be given more than once.',
      },
      { name: 'words', value: 'text', summary: 'Why not; or an answer in words of your own.' },
      { name: 'input', value: 'file', summary: 'Run this instead: a JSON object. With - what is piped in.' },
      { name: 'hash', value: 'hash', summary: 'Of what you were shown: anything else is refused.' },
      { name: 'option', value: 'label', summary: 'An answer. Once for each question; A|B chooses several.' },
      JSON_OPTION,
    ],
    examples: [
      { line: 'throughline answer 3f9c2a allow', says: 'this once' },
      { line: 'throughline answer 3f9c2a deny --words "use pnpm"', says: 'and why' },
      { line: 'throughline answer 3f9c2a answer --option Blue', says: 'a question' },
    ],
    exits: [
      [0, 'your answer counts'],
      [1, 'it does not: somebody was first, or nothing is asked any more'],
    ],
  },
  {
    name: 'audit',
    summary: 'Read and verify the record of what an agent called and who allowed it.',
    description:
      'Every line holds the hash of the one before it. Without a session it lists those that have a record.',
    args: [{ ...SESSION, required: false }],
    options: [JSON_OPTION],
    examples: [{ line: 'throughline audit 7d0c1f3e', says: 'what happened, and is it whole?' }],
    exits: [
      [0, 'the record is whole'],
      [1, 'it is broken, or there is none'],
    ],
  },
]
