import type { ChildProcess } from 'node:child_process'
import { createServer, request, type ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { number, parseJson, string } from '#base'
import { openTempDir } from '#testing'
import type { Bench } from './bench.ts'
import { endChild, freePort, startChild } from './children.ts'
import { hold } from './comparison.ts'
import { ms, type Row } from './table.ts'

const MAIN = fileURLToPath(new URL('../../dist/bin/throughline.js', import.meta.url))

const RELAY = fileURLToPath(new URL('proxy-relay.js', import.meta.url))

const PIECES = 1_500
const PAUSE_MS = 2
const ROUNDS = 3
/** Answers that pass before anything is measured: a process that was just started has not compiled its own code yet. */
const COLD_ROUNDS = 2
const WARM_UP = 200
/** What the proxy may add to a piece of an answer. */
const MOST_MS = 1

/**
 * What a proxy that records adds to each piece of an answer, against the same stream without it. A bare relay of bytes
 * in a process of its own shows what of that is the machine's.
 */
export async function proxyRows(_bench: Bench): Promise<readonly Row[]> {
  const dir = await openTempDir()
  const upstream = await openStream()
  const args = ['record', '--serve', '--json', '--port', String(await freePort()), '--dir', dir.path]
  const env = { PATH: process.env['PATH'], HOME: dir.path, THROUGHLINE_HOME: `${dir.path}/home` }
  const start = (...words: readonly string[]): ChildProcess =>
    startChild(process.execPath, words, { env, stdio: 'pipe' })
  const proxy = start(MAIN, ...args, '--upstream-anthropic', upstream.url)
  const relay = start(RELAY, new URL(upstream.url).port)
  try {
    const ways = [upstream.url, await addressOf(proxy), await addressOf(relay)]
    const delays: readonly number[][] = [[], [], []]
    const cold: number[] = []
    for (let round = 0; round < COLD_ROUNDS; round++) {
      for (const [at, url] of ways.entries()) {
        const some = await delaysOf(url)
        if (at === 1) cold.push(...some)
      }
    }
    for (let round = 0; round < ROUNDS; round++) {
      // One after the other, and over again: what the machine does meanwhile happens to all.
      for (const [at, url] of ways.entries()) delays[at]?.push(...(await delaysOf(url)))
    }
    const [direct = [], ours = [], bare = []] = delays
    const fault = ours.length === direct.length ? undefined : `${String(ours.length)} pieces came`
    return [50, 99].map((part) => {
      const without = percentile(direct, part)
      return hold({
        name: `piece of an answer through the recording proxy, added: p${String(part)}`,
        value: percentile(ours, part) - without,
        show: ms,
        most: MOST_MS,
        against: `bare relay ${ms(percentile(bare, part) - without)}`,
        fault,
        note: `${ms(without)} without either; ${ms(percentile(cold, part))} in all for the first ${String(COLD_ROUNDS)} answers of a process; ${String(ROUNDS)} x ${String(PIECES)} pieces`,
      })
    })
  } finally {
    await endChild(proxy)
    await endChild(relay)
    upstream.close()
    await dir.remove()
  }
}

/** Where a process says that it listens. */
async function addressOf(child: ChildProcess): Promise<string> {
  return await new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('a process did not start')))
    if (child.stdout === null) return
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = string(parseJson(line), 'ANTHROPIC_BASE_URL')
      if (url !== undefined) resolve(url)
    })
  })
}

/** A model that says in every piece when it was sent. */
async function openStream(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((incoming, outgoing) => {
    incoming.resume()
    incoming.on('end', () => void sendPieces(outgoing))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${String(number(server.address(), 'port') ?? 0)}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function sendPieces(outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (type: string, fields: object): void => {
    outgoing.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
  }
  const message = {
    id: `msg_${String(performance.now())}`,
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
  }
  send('message_start', { message: { ...message, usage: { input_tokens: 1, output_tokens: 1 } } })
  send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
  for (let at = 0; at < PIECES + WARM_UP; at++) {
    await sleep(PAUSE_MS)
    send('content_block_delta', {
      index: 0,
      delta: { type: 'text_delta', text: ` @${performance.now().toFixed(4)}@` },
    })
  }
  send('content_block_stop', { index: 0 })
  send('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } })
  send('message_stop', {})
  outgoing.end()
}

/** How long each piece took to come, in milliseconds. */
async function delaysOf(base: string): Promise<readonly number[]> {
  const messages = [{ role: 'user', content: `at ${String(performance.now())}` }]
  const body = JSON.stringify({ model: 'm', stream: true, tools: [{ name: 't' }], messages })
  const delays: number[] = []
  await new Promise<void>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(`${base}/v1/messages`, { method: 'POST', headers, agent: false }, (response) => {
      response.setEncoding('latin1')
      response.on('data', (text: string) => {
        const now = performance.now()
        for (const [, at] of text.matchAll(/@([\d.]+)@/gu)) delays.push(now - Number(at))
      })
      response.on('end', resolve)
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
  return delays.slice(WARM_UP)
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * part) / 100))] ?? Number.NaN
}
