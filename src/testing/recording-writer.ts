/**
 * A recorder to be killed: records turns without end, in one recording and a second one beside it, and prints
 * `open <transcript>` when it has an id, then `<uuid>` of each turn that was acknowledged.
 *
 *     node dist/testing/recording-writer.js <working directory> <seed> [lines]
 */
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { openRecording, type Recording } from '#recorder'
import { randomFrom } from './xorshift.ts'

const [cwd = '', seed = '1', wanted] = process.argv.slice(2)
const random = randomFrom(Number(seed))
const large = wanted !== 'lines' && random() < 0.5 ? 'blobs' : 'lines'
const options = { cwd, agent: 'writer', version: '1', register: join(cwd, 'home'), large } as const

await Promise.all([recordForEver(await openRecording(options)), recordForEver(await openRecording(options))])

async function recordForEver(recording: Recording): Promise<void> {
  writeSync(1, `open ${recording.path}\n`)
  await acknowledged(recording, recording.user(`begin ${sizedText()}`))
  for (let n = 0; ; n++) {
    const input = { path: `file-${n}`, text: sizedText() }
    const content = [{ type: 'tool_use', id: `t${n}`, name: 'Edit', input }]
    const usage = {
      input_tokens: 3,
      output_tokens: 2,
      cache_read_input_tokens: 1,
      cache_creation_input_tokens: 1,
    }
    await acknowledged(recording, recording.assistant({ model: 'm', content, usage }))
    const result = { type: 'tool_result', tool_use_id: `t${n}`, content: sizedText() }
    const words = random() < 0.3 ? [{ type: 'text', text: 'and on' }] : []
    await acknowledged(recording, recording.user([result, ...words]))
  }
}

async function acknowledged(recording: Recording, turn: Promise<{ readonly uuid: string }>): Promise<void> {
  const { uuid } = await turn
  writeSync(1, `${recording.sessionId} ${uuid}\n`)
}

function sizedText(): string {
  return 'x'.repeat(random() < 0.1 ? 300_000 : Math.floor(random() * 3_000))
}
