import type { AgentFact, Driver, StartOptions } from '#drivers'
import type { MessageFact } from '#model'
import { createTurnSpending } from './turn-spending.ts'
import { openRecording, writeClaim, type Recording, type RecordingOptions } from './recording.ts'

export interface RecordedDriverOptions extends Pick<RecordingOptions, 'folder' | 'now'> {
  readonly mintId: () => string
  /** The id under which the agent itself knows the session that it is to go on with. */
  readonly agentId?: string | undefined
  /** `own`: the agent's own transcript is what is read, and only its name is noted. */
  readonly transcript?: 'own' | undefined
  /** Something could not be written down. */
  readonly onTrouble: (message: string) => void
}

/**
 * A driver whose agent leaves no transcript that can be read: everything it says is written down here, under our id,
 * and each message is told under the id that it has on disk. One that writes its own is left as it is.
 */
export function toRecordedDriver(driver: Driver, options: RecordedDriverOptions): Driver {
  if (driver.can.writesTranscript) return driver
  if (options.transcript === 'own') return toClaimedDriver(driver, options)
  return {
    agent: driver.agent,
    can: { ...driver.can, writesTranscript: true },
    async start(start) {
      const recording = await openRecording({
        folder: options.folder,
        now: options.now,
        agent: driver.agent,
        sessionId: start.sessionId,
        workdir: start.workdir,
        onShortened: (bytes) =>
          start.onFact({
            kind: 'trouble',
            message: `a message was too long to be recorded whole: ${bytes} bytes of it are left out`,
          }),
      })
      const onFact = createTap(recording, { ...options, onFact: start.onFact })
      try {
        const agent = await driver.start({ ...start, resume: toOwn(start.resume, options), onFact })
        return {
          ...agent,
          async close() {
            await agent.close()
            await recording.close()
          },
        }
      } catch (error) {
        await recording.close()
        throw error
      }
    },
  }
}

/** A driver whose agent's own transcript is read: of the session only its name is written down here. */
function toClaimedDriver(driver: Driver, options: RecordedDriverOptions): Driver {
  const { folder, onTrouble } = options
  return {
    agent: driver.agent,
    can: { ...driver.can, writesTranscript: true },
    async start(start) {
      const { sessionId } = start
      const claim = (agentId: string): void => {
        writeClaim(folder, agentId, { sessionId, transcript: 'own' }).catch(() =>
          onTrouble('the name of the session could not be written down'),
        )
      }
      return await driver.start({
        ...start,
        resume: toOwn(start.resume, options),
        onFact(fact) {
          if (fact.kind === 'started' || fact.kind === 'renamed') claim(fact.sessionId)
          start.onFact(toReadable(fact))
        },
      })
    },
  }
}

/** The model's own name: without the provider that opencode puts before it, and the effort that Codex puts behind it. */
function toModelName(offered: string): string {
  return offered.replace(/^.*\//u, '').replace(/\[[a-z]+\]$/u, '')
}

/** What an agent says of itself is about the agent; that its sessions can be read is our doing. */
function toReadable(fact: AgentFact): AgentFact {
  if (fact.kind !== 'started' || fact.can === undefined) return fact
  return { ...fact, can: { ...fact.can, writesTranscript: true } }
}

/** The session that an agent is to go on with, as it calls it itself. */
function toOwn(resume: StartOptions['resume'], { agentId }: RecordedDriverOptions): StartOptions['resume'] {
  return resume && { ...resume, sessionId: agentId ?? resume.sessionId }
}

/** Hears every fact on its way, and writes down what is said. */
function createTap(
  recording: Recording,
  options: RecordedDriverOptions & { readonly onFact: (fact: AgentFact) => void },
): (fact: AgentFact) => void {
  const { mintId, onFact, onTrouble } = options
  const spending = createTurnSpending()
  let model: string | undefined

  function write(writing: Promise<void>): void {
    writing.catch(() => onTrouble('what was said could not be written down'))
  }

  /** What the agent calls the session: a transcript of that name is of what is recorded here. */
  function claim(agentId: string): void {
    write(recording.claim(agentId))
  }

  return (fact) => {
    switch (fact.kind) {
      case 'message': {
        const named: MessageFact & { readonly id: string } = { ...fact, id: fact.id ?? mintId() }
        spending.hear(named)
        write(recording.add({ ...named, model: named.model ?? model }))
        onFact(named)
        return
      }
      case 'turn.ended':
        if (fact.outcome.kind === 'interrupted') write(recording.addInterruption(mintId()))
        for (const billed of spending.end(fact.outcome))
          write(recording.addUsage(mintId(), { ...billed, model: billed.model ?? model }))
        onFact(fact)
        return
      case 'started':
        claim(fact.sessionId)
        model = fact.model === undefined ? model : toModelName(fact.model)
        onFact(toReadable(fact))
        return
      case 'renamed':
        claim(fact.sessionId)
        onFact(fact)
        return
      case 'ended':
      case 'turn.started':
      case 'mode.changed':
      case 'delta':
      case 'retrying':
      case 'trouble':
      case 'unknown':
        onFact(fact)
    }
  }
}
