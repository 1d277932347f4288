import { parentPort } from 'node:worker_threads'
import { ThroughlineError } from '#base'
import { maskLine } from '#redact'
import type { MaskedLine, MaskRequest } from './mask-thread.ts'

/** Looks through lines for secrets, so that nobody waits who has something else to do. */
const port = parentPort
if (port === null) throw new Error('this file runs in a thread of its own')

// It runs: what ends it from here on is what it was given.
port.postMessage({ id: 0, lines: [] })

port.on('message', ({ id, lines }: MaskRequest) => {
  // A thread has no origin.
  // eslint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage({ id, lines: lines.map(toMasked) })
})

function toMasked(bytes: Uint8Array): MaskedLine {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const masked = maskLine(line)
    return masked === line ? { kind: 'clean' } : { kind: 'masked', bytes: masked }
  } catch (error) {
    return {
      kind: 'failed',
      reason: error instanceof ThroughlineError ? error.message : 'the redactor failed',
    }
  }
}
