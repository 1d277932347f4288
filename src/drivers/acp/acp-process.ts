import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { AGENT_MARK, findProcess, isRunning, type ProcessId } from '../process-tree.ts'

/** The process of an agent, or of the adapter that runs it. */
export interface AcpProcess {
  readonly child: ChildProcessWithoutNullStreams
  readonly id: ProcessId | undefined
  /** Resolves when it has ended, however it did. */
  readonly exited: Promise<void>
  /** Why it ended, in its own words where it had any. Nothing while it runs, and nothing when it ended well. */
  lastWords(): string | undefined
  /** Asks it, and everything it started that stayed with it, to end. */
  stop(): void
}

const KEPT_WORDS = 4_096

/** Starts it in a process group of its own, marked with the session. */
export function openAcpProcess(options: {
  readonly command: string
  readonly args: readonly string[]
  readonly workdir: string
  readonly env: Readonly<Record<string, string>>
  readonly sessionId: string
}): AcpProcess {
  const child = spawn(options.command, options.args, {
    cwd: options.workdir,
    env: { ...options.env, [AGENT_MARK]: options.sessionId },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  let words = ''
  let failure: string | undefined
  child.stderr.setEncoding('utf8')
  child.stderr.on('data', (chunk: string) => (words = (words + chunk).slice(-KEPT_WORDS)))
  child.on('error', (error) => (failure ??= error.message))
  // What is written to an agent that just died is lost with it, and that it died is told elsewhere.
  child.stdin.on('error', () => {})
  const id = child.pid === undefined ? undefined : findProcess(child.pid)

  return {
    child,
    id,
    exited: new Promise((resolve) => {
      child.once('exit', () => resolve())
      child.once('error', () => {
        if (child.pid === undefined) resolve()
      })
    }),
    lastWords() {
      if (child.pid === undefined) return failure
      const said = words.trim()
      if (child.signalCode !== null) return `ended by ${child.signalCode}${said === '' ? '' : `: ${said}`}`
      if (child.exitCode === null || child.exitCode === 0) return undefined
      return said === '' ? `exit code ${String(child.exitCode)}` : said
    },
    stop() {
      child.stdin.end()
      if (process.platform === 'win32' || !id || !isRunning(id)) return
      try {
        process.kill(-id.pid, 'SIGTERM')
      } catch {
        // It ended between the look and the signal.
      }
    },
  }
}
