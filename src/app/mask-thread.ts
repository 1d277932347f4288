import { Worker } from 'node:worker_threads'
import { ThroughlineError } from '#base'

/** Masks lines in a thread of its own: looking for secrets takes a second for every few megabytes. */
export interface MaskThread {
  /** The line without its secrets, as long as it was. Rejects with `redaction-failed`: then it stays here. */
  mask(line: Buffer): Promise<Buffer>
  close(): Promise<void>
}

export interface MaskRequest {
  readonly id: number
  readonly lines: readonly Uint8Array[]
}

export type MaskedLine =
  | { readonly kind: 'clean' }
  | { readonly kind: 'masked'; readonly bytes: Uint8Array }
  | { readonly kind: 'failed'; readonly reason: string }

interface Asked {
  readonly line: Buffer
  readonly resolve: (line: Buffer) => void
  readonly reject: (error: Error) => void
}

/** No line takes so long; one that does is not passed on. */
const PATIENCE_MS = 120_000
const HEAP_MB = 512

/** Begins with the first line; what is asked for at once goes there and back in one piece. */
export function openMaskThread(program: URL = WORKER): MaskThread {
  const underWay = new Map<number, { readonly asked: readonly Asked[]; readonly timer: NodeJS.Timeout }>()
  let gathered: Asked[] = []
  /** One of them has ended the thread. */
  const doubtful: Asked[] = []
  let worker: Worker | undefined
  /** Whether the thread has said a word. */
  let isRunning = false
  let ids = 0
  let closed = false

  function begin(): Worker {
    const started = new Worker(program, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } })
    started.on('message', (message: { readonly id: number; readonly lines: readonly MaskedLine[] }) => {
      if (started === worker) take(message)
    })
    started.on('error', () => died(started))
    started.on('exit', () => died(started))
    started.unref()
    isRunning = false
    return started
  }

  function send(asked: readonly Asked[]): void {
    if (asked.length === 0) return
    if (closed) {
      for (const { reject } of asked) reject(notRunning())
      return
    }
    worker ??= begin()
    const id = ++ids
    const timer = setTimeout(() => void worker?.terminate(), PATIENCE_MS).unref()
    underWay.set(id, { asked, timer })
    worker.ref()
    const message: MaskRequest = { id, lines: asked.map(({ line }) => line) }
    // A thread has no origin.
    // eslint-disable-next-line unicorn/require-post-message-target-origin
    worker.postMessage(message)
  }

  function take({ id, lines }: { readonly id: number; readonly lines: readonly MaskedLine[] }): void {
    isRunning = true
    const found = underWay.get(id)
    underWay.delete(id)
    clearTimeout(found?.timer)
    if (underWay.size === 0) worker?.unref()
    for (const [nth, { line, resolve, reject }] of (found?.asked ?? []).entries()) {
      const masked = lines[nth] ?? { kind: 'failed', reason: 'the redactor gave no text back' }
      if (masked.kind === 'clean') resolve(line)
      else if (masked.kind === 'failed') reject(failed(masked.reason))
      else resolve(Buffer.from(masked.bytes.buffer, masked.bytes.byteOffset, masked.bytes.byteLength))
    }
    trySoon()
  }

  /** The line that it died of stays here: which one that is, is found by trying them one after another. */
  function died(which: Worker): void {
    if (which !== worker) return
    worker = undefined
    const lost = [...underWay.values()]
    underWay.clear()
    for (const { timer } of lost) clearTimeout(timer)
    const asked = lost.flatMap((each) => each.asked)
    const [only] = asked
    // It never began: that is no line's fault.
    if (!isRunning) for (const { reject } of asked) reject(notRunning())
    else if (asked.length === 1) only?.reject(failed('the redactor died of it'))
    else doubtful.push(...asked)
    trySoon()
  }

  function trySoon(): void {
    if (underWay.size === 0) send(doubtful.splice(0, 1))
  }

  return {
    mask: (line) =>
      new Promise((resolve, reject) => {
        gathered.push({ line, resolve, reject })
        if (gathered.length > 1) return
        queueMicrotask(() => {
          const all = gathered
          gathered = []
          if (doubtful.length === 0) send(all)
          else doubtful.push(...all)
        })
      }),
    async close() {
      closed = true
      const ended = worker
      worker = undefined
      for (const { asked, timer } of underWay.values()) {
        clearTimeout(timer)
        for (const { reject } of asked) reject(notRunning())
      }
      underWay.clear()
      for (const { reject } of doubtful.splice(0)) reject(notRunning())
      await ended?.terminate()
    },
  }
}

/** Tests run the sources, and Node runs what was built of them. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/app/mask-worker.js' : './mask-worker.js',
  import.meta.url,
)

function notRunning(): ThroughlineError {
  return new ThroughlineError('internal', 'lines cannot be looked through for secrets right now', {
    hint: 'They are tried again.',
  })
}

function failed(why: string): ThroughlineError {
  return new ThroughlineError('redaction-failed', `nothing was passed on: ${why}`, {
    hint: 'It stays on this machine.',
  })
}
