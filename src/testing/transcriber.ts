/**
 * A process that transcribes without end, to have two of them, and to be killed. Prints `ready` after the first time,
 * and ends when its input does.
 *
 *     node dist/testing/transcriber.js <gemini|opencode> <the agent's folder> <folder of transcriptions>
 */
import { createGeminiSource, createOpencodeSource } from '#sources'

const [agent = '', from = '', to = ''] = process.argv.slice(2)
const source = agent === 'gemini' ? createGeminiSource(from, to) : createOpencodeSource(from, to)
const over = new AbortController()
process.stdin.on('end', () => over.abort()).resume()

await source.find()
process.stdout.write('ready\n')
while (!over.signal.aborted) {
  await source.find()
  await new Promise((resolve) => setImmediate(resolve))
}
