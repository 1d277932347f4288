import type { Throughline } from '#app'
import { object, ThroughlineError } from '#base'
import type { DocumentPatch, DocumentState, MemoryDocument } from '#model'
import { exactLine, exactText, safeLine, toPlural, warnOfHidden } from '#render'
import type { DocumentAction } from '#wire'
import type { Values } from './command-line.ts'
import { confirm } from './confirm.ts'
import type { Console } from './console.ts'
import { listDocuments, STATES, toList, WRITTEN } from './document-list.ts'
import { exportAll, readGiven, tellImport, toImport } from './document-transfer.ts'
import { isBeginningOf } from './id-beginning.ts'
import { toJsonLine } from './json.ts'
import { readPrompt } from './live-session.ts'
import { toMoment } from './moment.ts'
import { findCategory } from './remember.ts'

type Memory = Throughline['memory']

/** `throughline documents` */
export async function documents(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const { memory } = throughline
  const [action = 'list', what] = values.args
  switch (action) {
    case 'show':
      return await show(memory, await getDocument(memory, what), { values, console })
    case 'edit':
      return await edit(memory, await getDocument(memory, what), { values, console })
    case 'retire':
    case 'pin':
    case 'unpin':
    case 'approve':
      return await act(memory, await getDocument(memory, what), { action: { do: action }, values, console })
    case 'delete':
      return await erase(memory, await getDocument(memory, what), { values, console })
    case 'restore': {
      const from = values.count('from')
      const restore: DocumentAction = { do: 'restore', ...(from === undefined ? {} : { from }) }
      return await act(memory, await getDocument(memory, what), { action: restore, values, console })
    }
    case 'share':
      return await act(memory, await getDocument(memory, what), { action: toShare(values), values, console })
    case 'decide': {
      const decide: DocumentAction = { do: 'decide', key: values.value('key') ?? '' }
      return await act(memory, await getDocument(memory, what), { action: decide, values, console })
    }
    case 'review':
      return await review(memory, values, console)
    case 'export':
      return await exportAll(memory, values, console)
    case 'import': {
      const text = await readGiven(what)
      const request = toImport('documents', text, { file: what, values })
      return await tellImport(await memory.import(request), values, console)
    }
    default:
      return await listDocuments(throughline, values, console)
  }
}

function toShare(values: Values): DocumentAction {
  const reader = values.value('with') ?? 'team'
  return { do: 'share', scope: reader === 'nobody' ? 'private' : reader === 'workdir' ? 'workdir' : 'team' }
}

interface Asked {
  readonly values: Values
  readonly console: Console
}

async function show(memory: Memory, { id }: MemoryDocument, { values, console }: Asked): Promise<number> {
  const [trace, versions] = [await memory.trace(id), await memory.versions(id)]
  if (values.flag('json')) {
    await console.out.write(toJsonLine({ ...trace, versions }))
    return 0
  }
  const { document, carried, files } = trace
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['type', `${document.type}, ${document.category}`],
    ['tags', document.tags.join(', ')],
    ['session', document.sessionId ?? document.sourceSessionId],
    ['said in', document.sourceMessageId],
    ['by', document.promotedBy ?? document.speakerName],
    ['folder', document.workdir],
    ['shared with', document.scope],
    ['from', document.elsewhere && `${document.elsewhere.person}, ${document.elsewhere.machine}`],
    ...(document.conflict ?? []).map(
      ({ key, by, at, elsewhere, isShown }) =>
        [
          isShown ? 'as changed' : 'or as changed',
          `${at} by ${by} on ${elsewhere?.machine ?? 'this machine'}, --key ${key}`,
        ] as const,
    ),
    ['pinned', document.pinned ? 'yes' : undefined],
    ['expires', document.expiresAt],
    ['retired', document.retiredAt],
    ['superseded by', document.supersededBy],
    ['held', document.quarantine],
    ['claims', toClaims(document)],
    ['contradicts', document.contradicts.join(', ')],
    [
      'said again',
      document.confirmations.length === 0 ? undefined : toPlural(document.confirmations.length, 'time'),
    ],
    ...files.map(({ path, state }) => ['file', `${path}: ${state}`] as const),
    ['carried in', carried.length === 0 ? undefined : toPlural(carried.length, 'wake-up')],
  ]
  await console.out.write(
    `${console.paint('strong', exactLine(document.id))}\n\n${exactText(document.content)}\n\n`,
  )
  const warning = warnOfHidden([document.content])
  if (warning !== undefined) await console.out.write(`${console.paint('error', `⚠ ${warning}`)}\n\n`)
  for (const [name, value] of facts) {
    if (value !== undefined && value !== '') {
      await console.out.write(`${console.paint('dim', name.padEnd(14))}${safeLine(value)}\n`)
    }
  }
  await console.out.write('\n')
  for (const { version, change, by, at, document: then } of versions) {
    const words = safeLine(then.content).slice(0, 80)
    await console.out.write(`${version}  ${safeLine(at)}  ${change} by ${safeLine(by)}  ${words}\n`)
  }
  return 0
}

/** What a document that came from outside says of itself. */
function toClaims({ extra }: MemoryDocument): string | undefined {
  const claims = Object.entries(object(extra, 'outside') ?? {})
  return claims.map(([name, value]) => `${name}: ${String(value)}`).join(', ')
}

async function edit(memory: Memory, { id }: MemoryDocument, { values, console }: Asked): Promise<number> {
  const [content, category] = [values.value('content'), findCategory(values.value('category'))]
  const [tags, expires] = [values.all('tag'), values.value('expires')]
  const words = content === '-' ? await readPrompt(['-']) : content
  const patch: DocumentPatch = {
    ...(words === undefined ? {} : { content: words.trim() }),
    ...(category === undefined ? {} : { category }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(expires === undefined
      ? {}
      : { expiresAt: expires === 'never' ? undefined : toMoment(expires, console.now) }),
  }
  if (Object.keys(patch).length === 0) {
    throw new ThroughlineError('bad-usage', 'there is nothing to change', {
      hint: 'Give --content, --category, --tag or --expires.',
    })
  }
  return await tell(await memory.edit(id, patch), { values, console })
}

async function act(
  memory: Memory,
  { id }: MemoryDocument,
  { action, values, console }: Asked & { readonly action: DocumentAction },
): Promise<number> {
  return await tell(await memory.act(id, action), { values, console })
}

async function erase(
  memory: Memory,
  { id, content }: MemoryDocument,
  { values, console }: Asked,
): Promise<number> {
  console.say(safeLine(content.slice(0, 200)))
  await confirm(
    console,
    values,
    `${id} and its history are deleted for good. Sessions that were told of it keep their text.`,
  )
  const document = await memory.act(id, { do: 'delete' })
  if (values.flag('json')) await console.out.write(toJsonLine({ document }))
  else console.say(`Deleted ${id}.`)
  return 0
}

async function tell(document: MemoryDocument, { values, console }: Asked): Promise<number> {
  if (values.flag('json')) await console.out.write(toJsonLine({ document }))
  else console.say(`${document.id}: ${safeLine(document.content)}`)
  return 0
}

async function review(memory: Memory, values: Values, console: Console): Promise<number> {
  const found = await memory.review()
  if (values.flag('json')) {
    await console.out.write(toJsonLine(found))
    return 0
  }
  const parts: readonly (readonly [string, readonly MemoryDocument[]])[] = [
    ['held back', found.held],
    ['changed on two machines', found.conflicts],
    ...found.contradictions.map((group) => ['contradict each other', group] as const),
    ...found.duplicates.map((group) => ['say nearly the same', group] as const),
    ['their files have changed', found.stale],
    ['new since the last wake-up', found.fresh],
  ]
  const some = parts.filter(([, group]) => group.length > 0)
  if (some.length === 0) console.say('Nothing waits for you.')
  for (const [title, group] of some) {
    await console.out.write(`${console.paint('strong', title)}\n${toList(group, console, exactLine)}\n`)
  }
  return 0
}

/** The document with this id, or the only one whose id begins with it. */
async function getDocument(memory: Memory, id: string | undefined): Promise<MemoryDocument> {
  if (id === undefined || id === '') {
    throw new ThroughlineError('bad-usage', 'say which document', {
      hint: 'Run `throughline documents` to see their ids.',
    })
  }
  const exact = await findDocument(memory, id)
  if (exact !== undefined) return exact
  const states: readonly DocumentState[] = STATES
  // What files agents wrote stands in the transcripts, which are only read when that is meant.
  const type = id.startsWith('artifact:') ? ('artifact' as const) : WRITTEN
  const written = await memory.query({ type, state: states })
  const found = written.filter(
    (one) => isBeginningOf(id, one.id) || isBeginningOf(id, one.id.replace(/^\w+:/, '')),
  )
  const [only, another] = found
  if (only === undefined) return await memory.get(id)
  if (another === undefined) return only
  throw new ThroughlineError('document-not-found', `${found.length} documents begin with ${safeLine(id)}`, {
    hint: `Give more of it: ${only.id} or ${another.id}.`,
  })
}

async function findDocument(memory: Memory, id: string): Promise<MemoryDocument | undefined> {
  return await memory.get(id).catch((error: unknown) => {
    if (error instanceof ThroughlineError && error.code === 'document-not-found') return undefined
    throw error
  })
}
