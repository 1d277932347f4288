// How much memory the daemon takes beside one very large session: while it follows and indexes it, and while its
// conversation is sent. `npm run build && npm run soak:memory [-- <lines>]`. Takes minutes and three times the room of
// the session; not a part of `npm test`.
import { execFileSync, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const LINES = Number(process.argv[2] ?? 1_200_000)
const SESSION = '0abcdef0-0000-4000-8000-000000000000'
const main = new URL('../dist/bin/throughline.js', import.meta.url).pathname
const home = mkdtempSync(join(tmpdir(), 'throughline-soak-'))
const env = { PATH: process.env.PATH, HOME: home }

/** Words that a search index finds different, and the same in every run. */
function wordsOf(seed, count) {
  let state = seed + 1
  return Array.from({ length: count }, () => {
    state = (state * 48_271) % 2_147_483_647
    return (state % 8000).toString(36).padStart(3, 'w')
  }).join(' ')
}

const uuid = (of) => `${of.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`

function toLine(n, said) {
  const base = {
    parentUuid: n === 0 ? null : uuid(n - 1),
    isSidechain: false,
    cwd: '/home/user/work',
    sessionId: SESSION,
    version: '2.1.0',
    uuid: uuid(n),
    timestamp: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
  }
  const text = said[n % said.length]
  const id = `toolu_${n - (n % 4)}`
  const call = [{ type: 'tool_use', id, name: 'Bash', input: { command: `ls ${text.slice(0, 200)}` } }]
  const result = [{ type: 'tool_result', tool_use_id: id, content: text + text }]
  const reply = (content) => ({ id: `msg_${n}`, role: 'assistant', model: 'claude-opus-4-5', content })
  const message = [
    { role: 'user', content: text.slice(0, 400) },
    reply([{ type: 'text', text }]),
    reply(call),
    { role: 'user', content: result },
  ][n % 4]
  return `${JSON.stringify({ ...base, type: message.role, message })}\n`
}

function writeSession() {
  const folder = join(home, '.claude', 'projects', '-home-user-work')
  mkdirSync(folder, { recursive: true })
  const said = Array.from({ length: 400 }, (_, seed) => wordsOf(seed, 400))
  const path = join(folder, `${SESSION}.jsonl`)
  const file = openSync(path, 'w')
  for (let n = 0; n < LINES;) {
    let lines = ''
    for (; n < LINES && lines.length < 1_000_000; n++) lines += toLine(n, said)
    writeSync(file, lines)
  }
  closeSync(file)
  return statSync(path).size
}

/** In megabytes. Linux only. */
function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
}

function health() {
  return JSON.parse(execFileSync(process.execPath, [main, 'status', '--json'], { env, encoding: 'utf8' }))
}

/** Asks for the conversation and throws it away. */
function askConversation(port) {
  const secret = readFileSync(join(home, '.throughline', 'secret'))
  const token = createHmac('sha256', secret).update('throughline local v1').digest('base64url')
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const request = get(
      `http://127.0.0.1:${port}/api/sessions/${SESSION}/conversation?raw=0`,
      { headers: { authorization: `Bearer ${token}` } },
      (response) => {
        const firstMs = Math.round(performance.now() - begun)
        let bytes = 0
        response.on('data', (piece) => (bytes += piece.length))
        response.on('end', () => resolve({ firstMs, bytes, ms: Math.round(performance.now() - begun) }))
      },
    )
    request.on('error', reject)
  })
}

async function watch(pid, until) {
  let peak = 0
  for (;;) {
    peak = Math.max(peak, memoryOf(pid))
    if (await until()) return peak
    await sleep(500)
  }
}

const size = writeSession()
console.log(`${LINES} lines, ${Math.round(size / 1e6)} MB`)
const daemon = spawn(process.execPath, [main, 'serve'], { env, stdio: 'ignore' })
try {
  await sleep(3000)
  let looks = 0
  const indexing = await watch(daemon.pid, () => ++looks % 20 === 0 && health().index.state === 'complete')
  console.log(`followed and indexed: at most ${indexing} MB, ${memoryOf(daemon.pid)} MB when it was done`)
  const { port } = JSON.parse(readFileSync(join(home, '.throughline', 'daemon.json'), 'utf8'))
  let sent
  const answer = askConversation(port).then((said) => (sent = said))
  const sending = await watch(daemon.pid, () => sent !== undefined)
  await answer
  console.log(
    `conversation: at most ${sending} MB, first byte after ${sent.firstMs} ms, ${sent.bytes} bytes after ${sent.ms} ms`,
  )
  console.log(`afterwards: ${memoryOf(daemon.pid)} MB`)
} finally {
  daemon.kill('SIGTERM')
  await new Promise((done) => daemon.once('exit', done))
  rmSync(home, { recursive: true, force: true })
}
