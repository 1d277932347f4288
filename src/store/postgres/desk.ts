import type { SessionOrigin } from '#model'
import type { Listening } from './team-log.ts'

/**
 * What is live on the machines of a team, what one machine asks of another, and which machine holds which session.
 * Files stay the truth: nothing here is needed to go on with a session on its own machine.
 *
 * Who asks is known by the login. Every call ends in time: one that the database does not answer rejects with
 * `database-unreachable` after a few seconds.
 */
export interface Desk {
  /** Shows a live session of this machine to whoever may see it, until it is not kept any more. */
  publish(session: DeskPublication): Promise<void>
  /** Says that these are still live. Gives those that are not there any more and have to be published again. */
  keep(sessions: readonly string[]): Promise<readonly string[]>
  retire(session: string): Promise<void>
  /** Every live session of other machines that may be seen. Of those that are known as they are, no card comes. */
  sessions(known?: readonly KnownSession[]): Promise<readonly DeskSession[]>
  findView(place: DeskPlace): Promise<DeskView | undefined>
  /**
   * Asks another machine for something, and waits for what it says. Rejects with `team-unreached` when it does not
   * take it up in time; then it never will. Rejects with `not-allowed` where the session's owner has not allowed it.
   */
  call(call: DeskCall): Promise<Buffer>
  /**
   * Takes up what others ask of this machine: each call once, whoever takes it. `run` names whoever carries it out; calls
   * that an earlier run took up and did not answer are given back as `lost`.
   */
  take(run: string): Promise<TakenCalls>
  answer(id: string, answer: Buffer): Promise<void>
  /** Takes the lease of a session, or renews it. Held by another machine, it says by which. */
  takeLease(session: string): Promise<LeaseState>
  /** Keeps leases of sessions that run here; says of which another machine has it, or wants it too. */
  keepLeases(sessions: readonly string[]): Promise<readonly KeptLease[]>
  releaseLease(session: string): Promise<void>
  /** Who holds a session, if anybody. */
  findLease(session: string): Promise<LeaseHolder | undefined>
  /** Says who said what in a session of this machine, for those who may see it. */
  putAuthors(authors: DeskAuthors): Promise<void>
  findAuthors(place: DeskPlace): Promise<Buffer | undefined>
  /** Says on the machine where a session was that it went on here. */
  putOnward(onward: DeskOnward): Promise<void>
  /** What went on elsewhere of the sessions of this machine. */
  onward(): Promise<readonly OnwardSession[]>
  /** Rings whenever something may be different: told by the database, every few seconds, and after a lost connection. */
  listen(request: DeskListenRequest): Listening
  /** Whether the database answered the last time. Before anything was asked: no. */
  isUp(): boolean
  close(): Promise<void>
}

export interface DeskPlace {
  /** The origin, by its key. */
  readonly origin: string
  readonly session: string
}

export interface DeskPublication {
  readonly session: string
  /** The folder, as shares name it. */
  readonly workdir: string
  /** What a board shows of it, in JSON, masked. */
  readonly card: Buffer
  /** The whole of it as it stands, in JSON, masked. Not there: it could not be masked. */
  readonly view?: Buffer | undefined
}

export interface KnownSession extends DeskPlace {
  readonly changed: number
}

export interface DeskSession extends DeskPlace {
  readonly from: SessionOrigin
  /** Whether it may be answered, talked to and ended from here. */
  readonly may: 'read' | 'answer'
  /** Another one whenever the card is. */
  readonly changed: number
  /** Another one whenever the view is. */
  readonly moved: number
  /** How long it is good for, unless it is kept. Below zero: nobody has kept it. */
  readonly leftMs: number
  /** Not there when it is known. */
  readonly card?: Buffer | undefined
}

export interface DeskView {
  readonly moved: number
  /** Not there: it could not be masked, and is only on its machine. */
  readonly view?: Buffer | undefined
}

export interface DeskCall extends DeskPlace {
  readonly body: Buffer
  /** How long it may take until it is taken up. */
  readonly patienceMs?: number | undefined
}

/** What somebody asks of this machine. Who that is, the database says. */
export interface TakenCall {
  readonly id: string
  readonly session: string
  readonly body: Buffer
  readonly from: SessionOrigin
}

export interface TakenCalls {
  readonly calls: readonly TakenCall[]
  /** Were taken up before, by somebody who did not live to answer. Whether they were carried out is not known. */
  readonly lost: readonly string[]
}

export interface LeaseHolder {
  readonly holder: SessionOrigin
  readonly leftMs: number
}

export type LeaseState =
  | { readonly state: 'mine'; readonly leftMs: number }
  | ({ readonly state: 'held' } & LeaseHolder)

export interface KeptLease {
  readonly session: string
  /** The machine that has it in place of this one. */
  readonly heldBy?: SessionOrigin | undefined
  /** A machine that runs it too. */
  readonly contender?: SessionOrigin | undefined
}

export interface DeskAuthors {
  readonly session: string
  readonly workdir: string
  readonly body: Buffer
}

export interface DeskOnward extends DeskPlace {
  readonly agent: string
  /** The session that it is here. */
  readonly to: { readonly session: string; readonly agent: string }
}

export interface OnwardSession {
  readonly session: string
  readonly agent: string
  readonly to: { readonly session: string; readonly agent: string; readonly origin: SessionOrigin }
  readonly at: string
}

export interface DeskListenRequest {
  readonly onRing: () => void | Promise<void>
  readonly onTrouble?: ((error: Error) => void) | undefined
  readonly pollMs?: number | undefined
}
