import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { string } from '#base'
import { AGENT_MARK, endProcesses, findProcess } from '../process-tree.ts'

export interface ToolAnswer {
  readonly text: string
  readonly isError: boolean
}

export interface ToolPlace {
  readonly workdir: string
  readonly env: Readonly<Record<string, string>>
  /** The session that the processes belong to. */
  readonly sessionId: string
  /** Ends the tool. */
  readonly signal: AbortSignal
}

const KEPT_OUTPUT = 30_000

/** Runs a tool, for real: `Bash`, `Write` and `Read`, in the working directory. Never throws. */
export async function runTool(name: string, input: unknown, place: ToolPlace): Promise<ToolAnswer> {
  try {
    switch (name) {
      case 'Bash':
        return await runCommand(string(input, 'command') ?? '', place)
      case 'Write': {
        const path = resolveInside(place.workdir, string(input, 'file_path') ?? '')
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, string(input, 'content') ?? '')
        return { text: `File written: ${path}`, isError: false }
      }
      case 'Read': {
        const path = resolveInside(place.workdir, string(input, 'file_path') ?? '')
        return { text: readFileSync(path, 'utf8').slice(0, KEPT_OUTPUT), isError: false }
      }
      default:
        return { text: `There is no tool ${name}.`, isError: true }
    }
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error), isError: true }
  }
}

/** A path in the working directory, links followed as far as there is something. */
function resolveInside(workdir: string, path: string): string {
  const root = realpathSync(workdir)
  const wanted = resolve(root, path)
  let there = wanted
  while (true) {
    try {
      const real = resolve(realpathSync(there), relative(there, wanted))
      const way = relative(root, real)
      if (way === '' || way.startsWith('..') || isAbsolute(way))
        throw new Error(`${path} is not in ${workdir}`)
      return real
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
      there = dirname(there)
    }
  }
}

function runCommand(command: string, place: ToolPlace): Promise<ToolAnswer> {
  if (place.signal.aborted) return Promise.resolve({ text: 'Stopped before it began.', isError: true })
  return new Promise((done) => {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd: place.workdir,
      env: { ...place.env, [AGENT_MARK]: place.sessionId },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString('utf8')).slice(0, KEPT_OUTPUT)
    }
    const stop = (): void => {
      const one = child.pid === undefined ? undefined : findProcess(child.pid)
      if (one) void endProcesses([one], { graceMs: 200 })
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    place.signal.addEventListener('abort', stop, { once: true })
    child.once('error', (error) => done({ text: error.message, isError: true }))
    // Not `close`: what the command left running in the background may hold the output open for ever.
    child.once('exit', (code, signal) => {
      place.signal.removeEventListener('abort', stop)
      // What was written is read first.
      setImmediate(() => {
        child.stdout.destroy()
        child.stderr.destroy()
        const ending =
          code === 0 ? '' : `\n${signal === null ? `Exit code ${String(code)}` : `Ended by ${signal}`}`
        done({ text: `${output}${ending}`.trim() || '(no output)', isError: code !== 0 })
      })
    })
  })
}
