import { join } from 'node:path'
import { createTally } from './corpus-facts.ts'
import { createCorpusFile } from './corpus-file.ts'
import { promptLine, replyLines, toolResultLine } from './corpus-messages.ts'
import { createRandom } from './corpus-random.ts'
import { createTexts } from './corpus-text.ts'
import { Transcript } from './corpus-transcript.ts'

export interface LongLineSession {
  readonly id: string
  /** Relative to the config dir. */
  readonly path: string
  readonly bytes: number
  readonly lines: number
}

/** A config dir with one session of five lines, one of them `lineBytes` long: a tool that printed too much. */
export function writeLongLineSession(options: {
  readonly dir: string
  readonly seed: number
  readonly lineBytes: number
}): LongLineSession {
  const random = createRandom(options.seed)
  const texts = createTexts(random.child('texts'))
  const id = random.uuid()
  const path = `projects/-home-user-work-long/${id}.jsonl`
  const file = createCorpusFile(join(options.dir, path))
  const t = new Transcript({
    file,
    path,
    random,
    texts,
    tally: createTally(),
    sessionId: id,
    era: 'lean',
    entrypoint: 'cli',
    model: 'claude-opus-5-5',
    place: { cwd: '/home/user/work/long', branch: 'main', worktree: false },
    startedAt: 1_788_220_800_000,
    imageChars: 0,
  })

  promptLine(t, 'Print everything.')
  const toolUseId = `toolu_01${random.token(18)}`
  const block = { type: 'tool_use', id: toolUseId, name: 'Bash', input: { command: 'cat everything' } }
  const [toolUseLine = ''] = replyLines(t, { blocks: [block], stop: 'tool_use' })
  // Said twice in the line, in the message and in `toolUseResult`, and a tenth more for what JSON escapes.
  const stdout = texts.output(random, options.lineBytes / 2.1)
  toolResultLine(t, {
    toolUseId,
    toolUseLine,
    content: stdout,
    result: { stdout, stderr: '', interrupted: false },
  })
  replyLines(t, { blocks: [{ type: 'text', text: 'That was a lot.' }], stop: 'end_turn' })
  promptLine(t, 'Thanks.')
  file.close(t.now)
  return { id, path, bytes: file.bytes, lines: file.lines }
}
