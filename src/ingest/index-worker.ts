import { parentPort, workerData } from 'node:worker_threads'
import { number, string, ThroughlineError } from '#base'
import { openIndexCore } from './index-core.ts'
import { takeNews, type FromIndex, type ToIndex } from './index-messages.ts'
import type { Watch } from './session-index.ts'

/** The index's own thread: everything that talks to SQLite happens here, so that nothing else ever waits for it. */
const port = parentPort
if (port === null) throw new Error('this file runs in a thread of its own')

const say = (message: FromIndex): void => {
  port.postMessage(message)
}
const watches = new Map<number, Watch>()
/** When the last question was asked, by the clock of whoever asked: `after:7d` is seven days before that. */
let asked = 0
const begunAt = number(workerData, 'begunAt') ?? 0
const begunHere = performance.now()

const index = openIndexCore({
  path: string(workerData, 'path') ?? '',
  origin: string(workerData, 'origin') ?? '',
  onCounts: (counts) => say({ kind: 'counts', counts }),
  onState: (state) => say({ kind: 'state', state }),
  onNotice: (notice) => say({ kind: 'notice', notice }),
  now: () => asked,
  clock: () => begunAt + performance.now() - begunHere,
  restMs: number(workerData, 'restMs'),
})

const answer = (id: number, value: Promise<unknown>): void => {
  value.then(
    (done) => say({ kind: 'answer', id, value: done }),
    (error: unknown) => say({ kind: 'refusal', id, error: toBody(error) }),
  )
}

async function close(): Promise<void> {
  await index.close()
  port?.unref()
}

port.on('message', (message: ToIndex) => {
  switch (message.kind) {
    case 'sync':
      takeNews(index, message)
      say({ kind: 'state', state: index.state() })
      break
    case 'touch':
    case 'forget':
    case 'move':
      takeNews(index, message)
      break
    case 'search':
      asked = message.now
      answer(message.id, index.search(message.request))
      break
    case 'usage':
      answer(message.id, index.usage(message.request, message.leftOut))
      break
    case 'settled':
      answer(
        message.id,
        index.settled().then(() => say({ kind: 'state', state: index.state() })),
      )
      break
    case 'watch': {
      const { watch, q, cursor } = message
      asked = message.now
      const added = index.watch(q, {
        ...(cursor === undefined ? {} : { cursor }),
        onHit: (hit, at) => say({ kind: 'hit', watch, hit, cursor: at }),
        onReset: (at) => say({ kind: 'reset', watch, cursor: at }),
        onCaughtUp: (at) => say({ kind: 'caught-up', watch, cursor: at }),
      })
      watches.set(watch, added)
      break
    }
    case 'unwatch':
      watches.get(message.watch)?.close()
      watches.delete(message.watch)
      break
    case 'close':
      answer(message.id, close())
      break
  }
})

function toBody(error: unknown): { code: string; message: string; hint: string } {
  if (error instanceof ThroughlineError) return { code: error.code, message: error.message, hint: error.hint }
  const message = error instanceof Error ? error.message : String(error)
  return { code: 'internal', message, hint: 'The log has the details: `throughline logs`.' }
}
