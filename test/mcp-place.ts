import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { maskSecrets, openThroughline, type Throughline } from '#app'
import { field, list, string } from '#base'
import { createMcpServer, type McpOptions } from '#mcp'
import { createLines, openTempDir, toJsonl, writeTranscript, type ChainLine, type LineMaker } from '#testing'
import { onTestFinished } from 'vitest'

/** What a tool answered. */
interface Answered {
  readonly text: string
  readonly isError: boolean
}

/** An agent that talks to a server of the protocol in this process, over real sessions. It goes with the test. */
export interface McpPlace {
  readonly throughline: Throughline
  readonly root: string
  readonly call: (name: string, given?: object) => Promise<Answered>
  /** The result of any request; an error of the protocol is thrown as its message. */
  readonly request: (method: string, params?: object) => Promise<unknown>
}

export const WORKDIR = '/home/user/work/made'

export interface PlaceOptions extends Partial<McpOptions> {
  /** The folders that sessions must have worked in. */
  readonly allowedRoots?: string
  /** Sessions by id, each made of lines. */
  readonly sessions?: Readonly<Record<string, (lines: LineMaker) => readonly ChainLine[]>>
}

export async function openMcpPlace(options: PlaceOptions = {}): Promise<McpPlace> {
  const temp = await openTempDir()
  const config = join(temp.path, 'config')
  mkdirSync(config)
  for (const [id, make] of Object.entries(options.sessions ?? {})) {
    const lines = make(createLines({ sessionId: id, cwd: WORKDIR }))
    await writeTranscript(config, toJsonl(lines), { id })
  }
  const throughline = await openThroughline({
    env: {
      THROUGHLINE_HOME: join(temp.path, 'home'),
      CLAUDE_CONFIG_DIR: config,
      HOME: temp.path,
      ALLOWED_ROOTS: options.allowedRoots,
    },
    now: () => Date.UTC(2026, 10, 16),
  })
  const server = createMcpServer((work) => work(throughline), {
    version: '0.0.0-test',
    redact: maskSecrets,
    workdir: WORKDIR,
    ...options,
  })
  const [near, far] = InMemoryTransport.createLinkedPair()
  const waiting = new Map<unknown, (message: unknown) => void>()
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no event target
  near.onmessage = (message) => waiting.get(field(message, 'id'))?.(message)
  await server.connect(far)
  await near.start()
  onTestFinished(async () => {
    await server.close()
    await throughline.close()
    await temp.remove()
  })
  let count = 0

  async function request(method: string, params: object = {}): Promise<unknown> {
    const id = ++count
    const answered = new Promise<unknown>((resolve) => waiting.set(id, resolve))
    await near.send({ jsonrpc: '2.0', id, method, params: { ...params } })
    const message = await answered
    const error = field(message, 'error')
    if (error !== undefined) throw new Error(string(error, 'message'))
    return field(message, 'result')
  }

  await request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test-agent', version: '1' },
  })
  await near.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return {
    throughline,
    root: temp.path,
    request,
    async call(name, given = {}) {
      const result = await request('tools/call', { name, arguments: given })
      const [content] = list(result, 'content')
      return { text: string(content, 'text') ?? '', isError: field(result, 'isError') === true }
    },
  }
}

/** A text block of a reply. */
export function say(text: string): object {
  return { type: 'text', text }
}
