import { resolve } from 'node:path'
import type { Throughline } from '#app'
import type { DocumentQuery, MemoryDocument } from '#model'
import { safeLine } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { findCategory } from './remember.ts'
import { toAge } from './short.ts'
import { toTable } from './table.ts'

export const STATES = ['active', 'quarantined', 'expired', 'superseded', 'retired'] as const
const TYPES = ['message', 'artifact', 'learning', 'marker', 'teaching'] as const
/** What somebody wrote down. Messages are many, and files that agents wrote too. */
export const WRITTEN = ['learning', 'marker', 'teaching'] as const

/** `throughline documents list` */
export async function listDocuments(
  throughline: Throughline,
  values: Values,
  console: Console,
): Promise<number> {
  const limit = values.count('limit')
  const session = await findSessionId(throughline, values.value('session'))
  const query = toQuery(values)
  const options = limit === undefined ? {} : { limit }
  // What was learned in a session belongs to no session; it names the one it came from.
  const asked =
    session === undefined
      ? [query]
      : [
          { ...query, sessionId: session },
          { ...query, sourceSessionId: session },
        ]
  const matches = (await Promise.all(asked.map((one) => throughline.memory.query(one, options)))).flat()
  const found = [...new Map(matches.map((document) => [document.id, document])).values()]
  if (values.flag('json')) {
    await console.out.write(toJsonLine({ documents: found }))
    return 0
  }
  if (found.length === 0) {
    console.say('Nothing like this is remembered.')
    console.say('next: remember something with `throughline remember`.')
    return 0
  }
  await console.out.write(toList(found, console))
  return 0
}

function toQuery(values: Values): DocumentQuery {
  const [type, category] = [values.value('type'), findCategory(values.value('category'))]
  const [workdir, text] = [values.value('workdir'), values.value('text')]
  const state = STATES.find((one) => one === values.value('state'))
  const speaker = (['human', 'agent'] as const).find((one) => one === values.value('speaker'))
  const tags = values.all('tag')
  return {
    type: TYPES.find((one) => one === type) ?? WRITTEN,
    ...(category === undefined ? {} : { category }),
    ...(workdir === undefined ? {} : { workdir: resolve(workdir) }),
    ...(text === undefined ? {} : { text }),
    ...(speaker === undefined ? {} : { speakerType: speaker }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(values.flag('pinned') ? { pinned: true } : {}),
    ...(state === undefined ? {} : { state }),
  }
}

/** A conversation that was imported may be no session here: then its documents have the id as it is written. */
async function findSessionId(
  throughline: Throughline,
  session: string | undefined,
): Promise<string | undefined> {
  if (session === undefined) return undefined
  try {
    return (await throughline.get(session)).id
  } catch (error) {
    const known = await throughline.memory.query({ sessionId: session, state: STATES }, { limit: 1 })
    if (known.length === 0) throw error
    return session
  }
}

/** Documents as a table. */
export function toList(
  found: readonly MemoryDocument[],
  console: Console,
  showText: (text: string) => string = safeLine,
): string {
  const columns = [
    { title: 'id' },
    { title: 'category' },
    { title: 'age', align: 'right' as const },
    { title: 'says', share: 1 },
  ]
  const rows = found.map((document) => [
    {
      text: safeLine(document.id).replace(/^(\w+:[0-9a-f]{8})-[0-9a-f-]{27}$/, '$1'),
      style: 'code' as const,
    },
    { text: document.category },
    { text: toAge(document.updatedAt, console.now) },
    { text: `${document.pinned ? '◆ ' : ''}${toOwner(document)}${showText(document.content)}` },
  ])
  return toTable(columns, rows, console)
}

function toOwner({ elsewhere }: MemoryDocument): string {
  return elsewhere?.mine === false ? `${safeLine(elsewhere.person)}: ` : ''
}
