import { spawn, type ChildProcess } from 'node:child_process'
import type { SpawnedProcess, SpawnOptions } from '@anthropic-ai/claude-agent-sdk'
import { AGENT_MARK, findProcess, type ProcessId } from '../process-tree.ts'

/** The process of Claude Code. It is started here and not by the SDK, so that nothing of it is lost from sight. */
export interface ClaudeProcess {
  readonly process: SpawnedProcess
  readonly id: ProcessId | undefined
  /** Resolves when it has ended, however it did. */
  readonly exited: Promise<void>
  /** Why it ended, in its own words where it had any. Nothing while it runs, and nothing when it ended well. */
  lastWords(): string | undefined
}

const KEPT_WORDS = 4_096
/** How long a process may live on that says nothing any more. */
const DEAF_MS = 1_000

export function openClaudeProcess(options: SpawnOptions, sessionId: string): ClaudeProcess {
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: { ...options.env, [AGENT_MARK]: sessionId },
    stdio: ['pipe', 'pipe', 'pipe'],
    signal: options.signal,
    windowsHide: true,
  })
  let words = ''
  let failure: string | undefined
  child.stderr.setEncoding('utf8')
  child.stderr.on('data', (chunk: string) => (words = (words + chunk).slice(-KEPT_WORDS)))
  child.on('error', (error) => (failure ??= error.message))
  // What is written to an agent that just died is lost with it, and that it died is told elsewhere.
  child.stdin.on('error', () => {})
  // One that cannot be heard any more cannot ask either: it is ended, unless it is about to end by itself.
  child.stdout.once('close', () => {
    const timer = setTimeout(() => child.kill('SIGKILL'), DEAF_MS).unref()
    child.once('exit', () => clearTimeout(timer))
  })

  return {
    process: child,
    id: child.pid === undefined ? undefined : findProcess(child.pid),
    exited: new Promise((resolve) => {
      child.once('exit', () => resolve())
      child.once('error', () => {
        if (child.pid === undefined) resolve()
      })
    }),
    lastWords: () => toLastWords(child, words.trim(), failure),
  }
}

function toLastWords(child: ChildProcess, words: string, failure: string | undefined): string | undefined {
  if (child.pid === undefined) return failure
  const { exitCode, signalCode } = child
  if (exitCode === null && signalCode === null) return undefined
  if (signalCode !== null) return `ended by ${signalCode}${words === '' ? '' : `: ${words}`}`
  if (exitCode === 0) return undefined
  return words === '' ? `exit code ${String(exitCode)}` : words
}
