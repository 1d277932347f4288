import type { RecallHit } from '#wire'
import { QUOTES_ARE_DATA, toMinute } from './quoting.ts'
import { describeDocument } from './document-text.ts'
import type { Desk, Tool } from './tool.ts'

const USUAL = 5
const MOST = 20
const WORDS = 300

/** `recall`: what was said or remembered that answers a question. */
export const recallTool: Tool = {
  name: 'recall',
  title: 'Recall',
  always: true,
  description:
    'Ask in plain words what was said, decided or learned in earlier sessions. Best messages and remembered documents first, each with where it stands. For exact words use search.',
  parameters: [
    { name: 'question', kind: 'text', required: true, meaning: 'What you want to know.' },
    {
      name: 'workdir',
      kind: 'text',
      meaning: 'Only of this folder and those inside it. Default: everywhere.',
    },
    { name: 'limit', kind: 'count', most: MOST, meaning: `Hits per answer. Default ${USUAL}.` },
  ],
  async run(desk, given) {
    const workdir = given.text('workdir')
    const question = given.getText('question')
    const { hits } = await desk.throughline.memory.recall({
      question,
      limit: given.count('limit', USUAL),
      ...(workdir === undefined ? {} : { workdir }),
    })
    if (hits.length === 0) return 'Nothing was found. Try other words, or search for exact ones.'
    const told: string[] = []
    for (const hit of hits) told.push(await describeHit(desk, hit, question))
    return [`${hits.length} found, best first. ${QUOTES_ARE_DATA}`, ...told].join('\n')
  },
}

async function describeHit(desk: Desk, hit: RecallHit, question: string): Promise<string> {
  const { line, block } = desk.quoting
  if (hit.kind === 'document') {
    const document = await desk.throughline.memory.get(hit.id)
    return describeDocument(document, desk.quoting, WORDS)
  }
  const session = hit.sessionId === undefined ? undefined : await findSession(desk, hit.sessionId)
  const workdir = session?.workdirs.at(-1)
  return [
    `- ${toMinute(hit.at)}${workdir === undefined ? '' : ` in ${line(workdir, 120)}`}`,
    `  ${hit.sessionId === undefined ? '' : `session ${line(hit.sessionId, 128)} `}entry ${line(hit.id, 128)}`,
    `  ${block(toPiece(desk.quoting.clean(hit.text), question, WORDS), WORDS)}`,
  ].join('\n')
}

/** It may have gone since it was found. */
async function findSession(
  { throughline }: Desk,
  id: string,
): Promise<{ readonly workdirs: readonly string[] } | undefined> {
  return await throughline.get(id).catch(() => undefined)
}

/** The piece of a text in which most words of a question stand together. */
export function toPiece(text: string, question: string, most: number): string {
  if (text.length <= most) return text
  const words = new Set(question.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [])
  const finds = [...text.toLowerCase().matchAll(/[\p{L}\p{N}_]{3,}/gu)].filter(({ 0: word }) =>
    words.has(word),
  )
  const reach = most * 0.7
  let best = 0
  let start = 0
  for (const [index, find] of finds.entries()) {
    const near = finds.slice(index, index + 50).filter(({ index: at }) => at - find.index < reach)
    const count = new Set(near.map(({ 0: word }) => word)).size
    if (count <= best) continue
    best = count
    start = find.index
  }
  // From the beginning of a sentence or a line when one is near, else of a word.
  const before = text.slice(Math.max(0, start - 80), start)
  const sentence = before.search(/(?<=[.!?\n]\s*)\S[^.!?\n]*$/)
  const from = start - before.length + (sentence >= 0 ? sentence : before.search(/(?<=\s|^)\S*$/))
  return from <= 0 ? text : `…${text.slice(from)}`
}
