import { isObject, string } from '#base'
import type { AgentFact } from './driver.ts'
import { endProcesses, findBelow, isRunning, readArguments, type ProcessId } from './process-tree.ts'

/** The processes of the tools that run in a turn, as far as they can be told from those that were there before. */
export interface ToolProcesses {
  /** A turn begins: what is there now was not started by any call of it. */
  begin(): void
  /** Hears of calls and results as they are told. */
  hear(fact: AgentFact): void
  /** Ends what the calls started that have no result yet: not the agent, not its servers, nothing of earlier calls. */
  end(): Promise<void>
  /** Whether a call has no result yet. */
  isRunning(): boolean
  /** The turn is over: what its calls left behind belongs to nobody's call any more. */
  forget(): void
}

/** `find` gives every process of the agent, also those whose parents are gone. */
export function createToolProcesses(find: () => readonly ProcessId[]): ToolProcesses {
  /** What was there when each call that runs began. */
  const running = new Map<string, ReadonlySet<string>>()
  let atStart: ReadonlySet<string> = new Set()
  /** What was there before the first of the calls that run now. */
  let before: ReadonlySet<string> = new Set()
  /** What earlier calls left running. Whatever these start belongs to no later call. */
  let left: readonly ProcessId[] = []

  function beginCall(id: string, input: unknown): void {
    const command = string(isObject(input) ? input : undefined, 'command')
    const there = find()
    // It may have begun before it was told. Its shell has the command among its arguments.
    const fresh = command === undefined ? [] : there.filter((one) => !atStart.has(toKey(one)))
    const own = fresh.filter((one) => runs(one, command ?? ''))
    const below = new Set([...own, ...findBelow(own)].map(toKey))
    const others = new Set(there.map(toKey).filter((key) => !below.has(key)))
    if (running.size === 0) before = others
    running.set(id, others)
  }

  /** A call has its result. What is still there when none runs any longer was left running on purpose. */
  function endCall(id: string): void {
    if (!running.delete(id) || running.size > 0) return
    left = [...left.filter(isRunning), ...find().filter((one) => !before.has(toKey(one)))]
  }

  return {
    begin() {
      atStart = new Set(find().map(toKey))
    },
    hear(fact) {
      if (fact.kind !== 'message') return
      for (const block of fact.blocks) {
        if (block.kind === 'tool-use' && !running.has(block.id)) beginCall(block.id, block.input)
        if (block.kind === 'tool-result') endCall(block.toolUseId)
      }
    },
    async end() {
      const calls = [...running.values()]
      running.clear()
      if (calls.length === 0) return
      const found = find().filter((one) => calls.some((there) => !there.has(toKey(one))))
      // Looked at afterwards: what begins in between is not among those that were found.
      const spared = new Set([...left, ...findBelow(left)].map(toKey))
      const started = found.filter((one) => !spared.has(toKey(one)))
      await endProcesses([...started, ...findBelow(started)], { graceMs: GRACE_MS })
    },
    isRunning: () => running.size > 0,
    forget: () => running.clear(),
  }
}

const GRACE_MS = 500

function toKey({ pid, start }: ProcessId): string {
  return `${String(pid)} ${start}`
}

/** Whether a process is the shell, or the program, that runs this command. */
function runs(one: ProcessId, command: string): boolean {
  const last = readArguments(one.pid).at(-1)?.trim() ?? ''
  return last.length >= SHORTEST && (command.includes(last) || last.includes(command))
}

/** Shorter arguments than this stand in too many commands. */
const SHORTEST = 3
