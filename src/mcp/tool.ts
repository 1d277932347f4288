import type { Throughline } from '#wire'
import type { Arguments, Parameter } from './parameters.ts'
import type { Quoting } from './quoting.ts'

/** What a call has to work with. */
export interface Desk {
  readonly throughline: Throughline
  readonly quoting: Quoting
  /** The folder that is meant when none is named. */
  readonly workdir: string | undefined
  /** Who asks, as it calls itself. */
  readonly client: string | undefined
  /** The session that asks, and its name for this very call, where they are known. */
  readonly session: string | undefined
  readonly callId: string | undefined
}

/** Something that an agent can ask for. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  /** It keeps something. All others only read. */
  readonly writes?: true
  /** Told to every model at once, also by clients that let it search for tools first. */
  readonly always?: true
  /** The answer, ready to be read by a model. */
  run(desk: Desk, given: Arguments): Promise<string>
}

export const CURSOR: Parameter = {
  name: 'cursor',
  kind: 'text',
  meaning: 'From the answer before this one, to go on.',
}

export const SESSION: Parameter = {
  name: 'session',
  kind: 'text',
  required: true,
  meaning: 'The id of a session, the beginning of one, or a name.',
}
