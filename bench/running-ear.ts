import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { sharedNow } from './live-line.ts'
import { numbersIn } from './running-arrivals.ts'

/** Listens at the socket of a host, beside the daemon: it has every word as early as anybody can. */
export async function openEar(path: string): Promise<{ report(): object }> {
  const arrivals: [seq: number, at: number][] = []
  const socket = connect(path)
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    createInterface({ input: socket }).on('line', (line) => {
      const at = sharedNow()
      if (line.includes('"re":1,')) resolve()
      for (const seq of line.startsWith('{"event"') ? numbersIn(line) : []) arrivals.push([seq, at])
    })
    socket.write(`${JSON.stringify({ id: 1, do: 'listen' })}\n`)
  })
  return { report: () => ({ arrivals }) }
}
