import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { list, parseJson, string } from '#base'
import type { CorpusFacts } from '#testing'
import { cpuMsOf, endChild, freePort, isRunning, peakRssOf, startChild } from './children.ts'
import { ask, isListening, type Answer } from './daemon.ts'
import { linkTree } from './ground.ts'
import { Absent } from './measure.ts'
import { installPeer, type PeerName } from './peer-install.ts'

/** A peer that serves the corpus from a home of its own. */
export interface PeerServer {
  readonly startedAt: number
  cpuMs(): number
  peakBytes(): number
  list(): Promise<{ readonly ms: number; readonly sessions: number }>
  /** Milliseconds until it has told all it found. */
  search(word: string): Promise<{ readonly ms: number; readonly found: boolean }>
  stop(): Promise<void>
}

interface PeerOptions {
  /** Where peers are installed. */
  readonly root: string
  /** An empty folder. */
  readonly home: string
  readonly corpusDir: string
  readonly facts: CorpusFacts
}

const LONGEST_START_MS = 180_000

/** Starts a peer with the corpus as its `~/.claude`, on loopback and with nobody else to talk to. */
export async function startPeer(peer: PeerName, options: PeerOptions): Promise<PeerServer> {
  const { home, corpusDir, facts } = options
  const main = installPeer(options.root, peer)
  linkTree(corpusDir, join(home, '.claude'))
  if (peer === 'claude-run') writeHistory(home, facts)
  const port = await freePort()
  const startedAt = performance.now()
  const guard = ['--import', new URL('loopback-only.js', import.meta.url).href]
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    HOST: '127.0.0.1',
    SERVER_PORT: String(port),
    NODE_ENV: 'production',
  }
  const child = startChild(process.execPath, [...guard, main, ...argumentsOf(peer, port, home)], {
    env,
    cwd: home,
  })
  const pid = child.pid ?? 0
  try {
    while (!(await isListening(port))) {
      if (!isRunning(child)) throw new Absent(`${peer} ended with ${child.exitCode ?? child.signalCode}`)
      if (performance.now() - startedAt > LONGEST_START_MS) throw new Absent(`${peer} does not listen`)
      await sleep(10)
    }
    const token = peer === 'cloudcli' ? await register(port) : undefined
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const get = (path: string): Promise<Answer> => ask({ port, path, headers })
    return {
      startedAt,
      cpuMs: () => cpuMsOf(pid),
      peakBytes: () => peakRssOf(pid),
      async list() {
        const { body, ms } = await get(
          peer === 'cloudcli' ? '/api/projects?sessionsLimit=100000' : '/api/sessions',
        )
        return { ms, sessions: sessionsIn(parseJson(body.toString('utf8'))) }
      },
      async search(word) {
        if (peer !== 'cloudcli') throw new Absent(`${peer} has no search`)
        const { body, ms } = await get(
          `/api/providers/search/sessions?q=${encodeURIComponent(word)}&limit=20`,
        )
        return { ms, found: body.includes('"sessionId"') }
      },
      stop: () => endChild(child),
    }
  } catch (error) {
    await endChild(child)
    throw error
  }
}

function argumentsOf(peer: PeerName, port: number, home: string): readonly string[] {
  if (peer === 'claude-run') return ['--port', String(port), '--no-open', '--dir', join(home, '.claude')]
  return ['start', '--port', String(port), '--database-path', join(home, 'cloudcli.db')]
}

/** It lists what is in this file, and looks at no session. */
function writeHistory(home: string, { sessions }: CorpusFacts): void {
  const lines = sessions.map(({ id, path }, index) => {
    const project = basename(dirname(path)).replaceAll('-', '/')
    return JSON.stringify({
      display: `prompt ${index}`,
      pastedContents: {},
      timestamp: 1.7e12 + index,
      project,
      sessionId: id,
    })
  })
  writeFileSync(join(home, '.claude', 'history.jsonl'), `${lines.join('\n')}\n`)
}

/** Its first user. The home is a new one. */
async function register(port: number): Promise<string> {
  const body = JSON.stringify({ username: 'bench', password: 'bench-bench' })
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  const text = await new Promise<string>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/api/auth/register', method: 'POST', headers }
    const asked = request(options, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.once('end', () => resolve(Buffer.concat(pieces).toString('utf8')))
    })
    asked.once('error', reject)
    asked.end(body)
  })
  const token = string(parseJson(text), 'token')
  if (token === undefined) throw new Absent(`cloudcli lets nobody in: ${text.slice(0, 100)}`)
  return token
}

/** Sessions at the top, or in projects. */
function sessionsIn(answer: unknown): number {
  if (!Array.isArray(answer)) return 0
  return answer.reduce<number>(
    (sum, one) => sum + (string(one, 'projectId') === undefined ? 1 : list(one, 'sessions').length),
    0,
  )
}
