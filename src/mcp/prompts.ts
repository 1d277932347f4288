import { findPrevious, getWorkdir, readTranscript } from './previous-tool.ts'
import { invalid, readArguments, type Parameter } from './parameters.ts'
import type { Desk } from './tool.ts'

/** A text that a person can begin with. */
interface Prompt {
  readonly name: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  text(desk: Desk, workdir: string): Promise<string>
}

const WORKDIR: Parameter = { name: 'workdir', kind: 'text', meaning: 'The folder. Default: where you work.' }

const PROMPTS: readonly Prompt[] = [
  {
    name: 'wake-up',
    description: 'What a new session in this folder begins with: the last one, and what was learned.',
    parameters: [WORKDIR],
    async text({ throughline }, workdir) {
      // Composed for agents already: escaped, within its budget, without secrets.
      const { text } = await throughline.memory.wakeUp({ workdir })
      return text === '' ? 'Nothing was kept for this folder yet.' : text
    },
  },
  {
    name: 'continue',
    description: 'Go on where the last session of this folder ended.',
    parameters: [WORKDIR],
    async text(desk, workdir) {
      const session = await findPrevious(desk, workdir)
      if (session === undefined) return 'No session was completed in this folder yet. Begin afresh.'
      return [
        'Go on where the last session of this folder ended. Here is the end of it, as it was recorded. Check what has changed since before you rely on it, say in two sentences where things stand, then go on.',
        '',
        await readTranscript(desk, session),
      ].join('\n')
    },
  },
]

/** Every prompt, as a client is told of it. */
export function listPrompts(): {
  readonly name: string
  readonly description: string
  readonly arguments: { readonly name: string; readonly description: string; readonly required: boolean }[]
}[] {
  return PROMPTS.map(({ name, description, parameters }) => ({
    name,
    description,
    arguments: parameters.map((parameter) => ({
      name: parameter.name,
      description: parameter.meaning,
      required: parameter.required === true,
    })),
  }))
}

/** The text of one. Throws `request-invalid` for a name that there is none of. */
export async function readPrompt(desk: Desk, name: string, given: unknown): Promise<string> {
  const prompt = PROMPTS.find((one) => one.name === name)
  if (prompt === undefined) {
    throw invalid('there is no such prompt', `Use ${PROMPTS.map((one) => one.name).join(' or ')}.`)
  }
  const workdir = getWorkdir(desk, readArguments(prompt.parameters, given).text('workdir'))
  return await prompt.text(desk, workdir)
}
