import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { field, list, parseJson, string } from '#base'
import { onTestFinished } from 'vitest'

export const MAIN: string = join(import.meta.dirname, '../dist/bin/throughline.js')

export interface Result {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the built command to its end. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd?: string,
): Promise<Result> {
  return await runProgram(process.execPath, [MAIN, ...args], { env, ...(cwd === undefined ? {} : { cwd }) })
}

export async function runProgram(
  program: string,
  args: readonly string[],
  {
    input = '',
    ...options
  }: { readonly env: Readonly<Record<string, string>>; readonly cwd?: string; readonly input?: string },
): Promise<Result> {
  const child = spawn(program, args, { ...options, stdio: 'pipe' })
  const [out, err] = [[], []] as [Buffer[], Buffer[]]
  child.stdout.on('data', (piece: Buffer) => out.push(piece))
  child.stderr.on('data', (piece: Buffer) => err.push(piece))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const code = await new Promise<number | null>((done) => child.on('close', done))
  return { code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }
}

/** `throughline mcp` as an agent starts it, spoken to by hand. It goes with the test. */
export interface McpProcess {
  readonly child: ChildProcessWithoutNullStreams
  /** Every line of its standard output. */
  readonly lines: readonly string[]
  readonly request: (method: string, params?: object) => Promise<unknown>
  /** The text of a tool's answer. */
  readonly call: (name: string, given?: object) => Promise<string>
  readonly ended: Promise<number | null>
}

export async function openMcpProcess(
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<McpProcess> {
  const child = spawn(process.execPath, [MAIN, 'mcp'], { env, cwd, stdio: 'pipe' })
  child.stdin.on('error', () => {})
  child.stderr.resume()
  const ended = new Promise<number | null>((done) => child.on('close', done))
  const lines: string[] = []
  const waiting = new Map<unknown, (message: unknown) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    const message = parseJson(line)
    waiting.get(field(message, 'id'))?.(message)
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let count = 0
  async function request(method: string, params: object = {}): Promise<unknown> {
    const id = ++count
    const answered = new Promise<unknown>((resolve) => waiting.set(id, resolve))
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return await answered
  }
  await request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  })
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  return {
    child,
    lines,
    request,
    ended,
    async call(name, given = {}) {
      const answer = await request('tools/call', { name, arguments: given })
      return string(list(field(answer, 'result'), 'content')[0], 'text') ?? ''
    },
  }
}
