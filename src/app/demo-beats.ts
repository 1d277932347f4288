/** A sample session, told beat by beat. */
export interface Sample {
  readonly id: string
  readonly workdir: string
  readonly gitBranch: string
  readonly model: string
  /** Its name, as the agent would put it. */
  readonly title: string
  /** How long before the present its last line is. */
  readonly endedMinutesAgo: number
  readonly beats: readonly Beat[]
}

/** Something that is said or done, and becomes one or more lines. */
export type Beat =
  | {
      readonly kind: 'person'
      readonly text: string
      /** A PNG, as base64. */
      readonly image?: string
      /** A name to come back to. */
      readonly as?: string
      /** How long the person was away. */
      readonly afterMinutes?: number
    }
  /** One message of the model; the results of its calls follow. */
  | ({ readonly kind: 'agent' } & Words)
  | {
      readonly kind: 'compaction'
      readonly summary: string
      readonly tokensAfter: number
    }
  /** The person takes a prompt back, and everything since. */
  | { readonly kind: 'rewind'; readonly before: string }
  /** A line that was never finished, as a crash leaves it. */
  | { readonly kind: 'torn'; readonly text: string }

export interface Words {
  readonly thinks?: string
  readonly says?: string
  readonly runs?: readonly Call[]
}

export interface Call {
  readonly tool: string
  readonly input: object
  readonly output: string
  readonly failed?: true
  /** What Claude Code notes beside the output. */
  readonly detail?: unknown
  /** How much of the window it takes, where that is more than its text: a long file, cut here. */
  readonly tokens?: number
  readonly subagent?: Delegation
}

export interface Delegation {
  readonly agentId: string
  readonly agentType: string
  readonly description: string
  readonly prompt: string
  readonly beats: readonly Words[]
}

export function person(
  text: string,
  more: { as?: string; image?: string; afterMinutes?: number } = {},
): Beat {
  return { kind: 'person', text, ...more }
}

export function agent(words: Words): Beat {
  return { kind: 'agent', ...words }
}

export function bash(command: string, description: string, output: string): Call {
  const detail = { stdout: output, stderr: '', interrupted: false, isImage: false, noOutputExpected: false }
  return { tool: 'Bash', input: { command, description }, output, detail }
}

/** A command that ended with exit code 1. */
export function failing(command: string, description: string, output: string): Call {
  const said = `Exit code 1\n${output}`
  return {
    tool: 'Bash',
    input: { command, description },
    output: said,
    failed: true,
    detail: `Error: ${said}`,
  }
}

export function read(path: string, content: string, tokens = 0): Call {
  const lines = content.split('\n')
  const output = lines.map((line, at) => `${at + 1}\t${line}`).join('\n')
  const file = { filePath: path, content, numLines: lines.length, startLine: 1, totalLines: lines.length }
  return { tool: 'Read', input: { file_path: path }, output, detail: { type: 'text', file }, tokens }
}

export function grep(pattern: string, path: string, matches: readonly string[]): Call {
  const detail = {
    mode: 'content',
    numFiles: 0,
    filenames: [],
    content: matches.join('\n'),
    numLines: matches.length,
  }
  const input = { pattern, path, output_mode: 'content', '-n': true }
  return { tool: 'Grep', input, output: matches.join('\n'), detail }
}

export function edit(path: string, before: string, after: string): Call {
  return {
    tool: 'Edit',
    input: { file_path: path, old_string: before, new_string: after, replace_all: false },
    output: `The file ${path} has been updated successfully.`,
    detail: { filePath: path, oldString: before, newString: after, userModified: false, replaceAll: false },
  }
}

export function write(path: string, content: string): Call {
  return {
    tool: 'Write',
    input: { file_path: path, content },
    output: `File created successfully at: ${path}`,
    detail: { type: 'create', filePath: path, content, structuredPatch: [], originalFile: null },
  }
}

/** A list of things to do; the first `done` of them are done, and the next one is being done. */
export function todos(done: number, contents: readonly string[]): Call {
  const list = contents.map((content, at) => ({
    content,
    status: at < done ? 'completed' : at === done ? 'in_progress' : 'pending',
    activeForm: content,
  }))
  return {
    tool: 'TodoWrite',
    input: { todos: list },
    output: 'Todos have been modified successfully.',
    detail: { oldTodos: [], newTodos: list },
  }
}

/** A question with choices, and what the person chose. */
export function ask(
  question: string,
  options: Readonly<Record<string, string>>,
  { header, answer }: { readonly header: string; readonly answer: string },
): Call {
  const choices = Object.entries(options).map(([label, description]) => ({ label, description }))
  const questions = [{ question, header, multiSelect: false, options: choices }]
  return {
    tool: 'AskUserQuestion',
    input: { questions },
    output: `Your questions have been answered: "${question}"="${answer}". You can now continue with these answers in mind.`,
    detail: { questions, answers: { [question]: answer } },
  }
}

/** Hands a task to a subagent; what it says last is its report. */
export function delegate(task: Delegation): Call {
  const { agentId, agentType, description, prompt } = task
  const report = task.beats.at(-1)?.says ?? ''
  const calls = task.beats.reduce((sum, { runs = [] }) => sum + runs.length, 0)
  return {
    tool: 'Agent',
    input: { description, subagent_type: agentType, prompt },
    output: report,
    detail: {
      status: 'completed',
      prompt,
      agentId,
      agentType,
      content: [{ type: 'text', text: report }],
      totalToolUseCount: calls,
    },
    subagent: task,
  }
}
