/**
 * A recorder on a disk that fails. `kill <n>`: records once and dies in the n-th operation on a file. An error's code:
 * records once for every n, in a folder of its own each time, until nothing is left to fail. Prints, straight away:
 * `open <n> <transcript>`, `<uuid> <word>` for every turn that was acknowledged, `refused <word>` for every other,
 * and `end`. `count`: nothing fails; prints how many operations ten turns take once a recording is under way.
 *
 *     node dist/testing/recording-faulter.js <folder> <EIO | ENOSPC | kill | count> <first n> <step>
 */
import { mkdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openRecording, type RecordedTurn } from '#recorder'
import { breakDisk } from './failing-disk.ts'

const [folder = '', how = '', first = '1', step = '1'] = process.argv.slice(2)
const LARGE = 'large '.repeat(3_000)
const disk = await breakDisk(folder)

if (how === 'kill') {
  await recordOnce(Number(first), 'kill')
} else if (how === 'count') {
  await countTurns()
} else {
  for (let n = Number(first); ; n += Number(step)) {
    if ((await recordOnce(n, how === 'EIO' ? 'EIO' : 'ENOSPC')) === 'spared') break
  }
}

async function recordOnce(n: number, fault: 'EIO' | 'ENOSPC' | 'kill'): Promise<'hit' | 'spared'> {
  const cwd = join(folder, String(n))
  mkdirSync(cwd)
  const recording = await openRecording({
    cwd,
    agent: 'faulter',
    version: '1',
    register: join(cwd, 'home'),
    large: 'blobs',
  })
  say(`open ${n} ${recording.path}`)
  disk.arm(n, fault)
  await take('one', async () => await recording.user('one'))
  await take('two', async () => await recording.assistant({ content: `two ${LARGE}` }))
  await take('three', async () => {
    const result = { type: 'tool_result', tool_use_id: 't', content: 'three' }
    return await recording.user([result, { type: 'text', text: 'three' }])
  })
  await take('four', async () => await recording.user('four'))
  await recording.end().catch(() => say('refused end'))
  const outcome = disk.disarm()
  await recording.end().catch(() => {})
  say('end')
  return outcome
}

async function countTurns(): Promise<void> {
  const recording = await openRecording({ cwd: folder, agent: 'faulter', version: '1', register: false })
  await recording.user('begin')
  // What is done once, beside the first turn, is over by then.
  await new Promise((resolve) => setTimeout(resolve, 500))
  const before = disk.count()
  for (let n = 0; n < 10; n++) await recording.user(`turn ${n}`)
  say(String(disk.count() - before))
  await recording.end()
}

async function take(word: string, record: () => Promise<RecordedTurn>): Promise<void> {
  try {
    const { uuid } = await record()
    say(`${uuid} ${word}`)
  } catch {
    say(`refused ${word}`)
  }
}

/** Straight into the pipe: a stream of Node would keep it back, and a kill would take it along. */
function say(text: string): void {
  writeSync(1, `${text}\n`)
}
