import { isDocumentCategory } from '#model'
import type { NearDocument, PickedAt, RememberOutcome, RememberRequest, Throughline } from '#wire'
import { describeDocument } from './document-text.ts'
import type { Quoting } from './quoting.ts'
import type { Desk, Tool } from './tool.ts'

const TYPES = ['learning', 'marker', 'teaching'] as const
const CATEGORIES = ['identity', 'knowledge', 'operational']
const WORDS = 300

/** `remember`: keeps something for later sessions. */
export const rememberTool: Tool = {
  name: 'remember',
  title: 'Remember',
  always: true,
  description:
    'Keep one lasting fact for later sessions: a convention, decision, pitfall or preference, in your own words. The answer says whether it was kept. No secrets, nothing that only matters now.',
  writes: true,
  parameters: [
    { name: 'content', kind: 'text', required: true, meaning: 'One fact, in one to three sentences.' },
    {
      name: 'type',
      kind: 'text',
      values: TYPES,
      meaning:
        'learning: a fact (default). marker: a moment that mattered. teaching: guidance for other agents.',
    },
    { name: 'category', kind: 'text', values: CATEGORIES, meaning: 'Default: knowledge.' },
    { name: 'tags', kind: 'texts', meaning: 'A few words to find it by.' },
    {
      name: 'files',
      kind: 'texts',
      meaning: 'Paths it was learned from: later sessions hear when they changed.',
    },
    { name: 'workdir', kind: 'text', meaning: 'The folder it holds in. Default: where you work.' },
    { name: 'supersedes', kind: 'text', meaning: 'The id of a document that this one replaces.' },
  ],
  async run(desk, given) {
    const { throughline, quoting, workdir, client } = desk
    const at = await findPlace(desk)
    const category = given.text('category')
    const type = TYPES.find((one) => one === given.text('type'))
    const folder = given.text('workdir') ?? workdir
    const supersedes = given.text('supersedes')
    const request: RememberRequest = {
      content: given.getText('content'),
      speaker: 'agent',
      tags: given.texts('tags'),
      ...(type === undefined ? {} : { type }),
      ...(isDocumentCategory(category) ? { category } : {}),
      ...(given.texts('files').length === 0 ? {} : { files: given.texts('files') }),
      ...(folder === undefined ? {} : { workdir: folder }),
      ...(supersedes === undefined ? {} : { supersedes }),
      ...(client === undefined ? {} : { agent: client }),
      ...(at === undefined ? {} : { at }),
    }
    return toWords(await throughline.memory.remember(request), quoting)
  },
}

const LOOKED_AT = 40
const LOOKS = 8
const BETWEEN_MS = 125

/**
 * Where in its session the call stands. The agent writes it down at about the time at which it calls; one that has
 * begun another session meanwhile writes it elsewhere, and then nobody knows.
 */
async function findPlace({ throughline, session, callId }: Desk): Promise<PickedAt | undefined> {
  if (session === undefined || callId === undefined) return undefined
  for (let look = 0; look < LOOKS; look++) {
    if (look > 0) await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS))
    // Without its place it is remembered all the same.
    const found = await lookFor(throughline, session, callId).catch(() => undefined)
    if (found !== undefined) return found
  }
  return undefined
}

async function lookFor(
  throughline: Throughline,
  session: string,
  callId: string,
): Promise<PickedAt | undefined> {
  const summary = await throughline.get(session)
  const { readings } = await throughline.page(summary, { limit: LOOKED_AT, raw: false })
  for (const reading of readings.toReversed()) {
    if (reading.kind !== 'entry' || reading.entry.kind !== 'reply') continue
    const { id, blocks } = reading.entry
    const block = blocks.findIndex((one) => one.kind === 'tool-use' && one.id === callId)
    if (block >= 0) return { sessionId: summary.id, entryId: id, block }
  }
  return undefined
}

function toWords(outcome: RememberOutcome, quoting: Quoting): string {
  const { line, block } = quoting
  switch (outcome.kind) {
    case 'remembered':
      return `Remembered as ${line(outcome.document.id, 200)}.`
    case 'confirmed':
      return ['Already remembered, now confirmed:', describeDocument(outcome.document, quoting, WORDS)].join(
        '\n',
      )
    case 'held':
      return `Written down as ${line(outcome.document.id, 200)}, but held back until a person approves it: ${line(outcome.reason, 200)}. Tell the person.`
    case 'near':
      return [
        'Not remembered: nearly the same is known, and the two do not agree.',
        ...outcome.near.map((near) => describeNear(near, quoting)),
        'If yours replaces one of them, call remember again with `supersedes` and its id. Otherwise tell the person, who decides.',
      ].join('\n')
    case 'secret':
      return `Not remembered: it looks like a secret (${line(outcome.secrets.join(', '), 200)}). Without it, it would read ${block(outcome.masked, WORDS)}. Say it without the secret.`
    case 'ignored':
      return 'Not remembered, as was wanted.'
  }
}

function describeNear({ document, differs }: NearDocument, quoting: Quoting): string {
  const where = differs.length === 0 ? '' : `\n  they differ in ${quoting.line(differs.join(', '), 120)}`
  return `${describeDocument(document, quoting, WORDS)}${where}`
}
