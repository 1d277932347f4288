import { field, list, parseJson } from '#base'
import { lineBreakOf, takeBack, type ConfigEdit, type EntryState, type Stretch } from './config-edit.ts'
import { findObject, findWhole, type Member, type ObjectPlace } from './json-members.ts'
import { ENTRY_NAME, isOurEntry, type McpEntry } from './mcp-entry.ts'

const SERVERS = 'mcpServers'

/** The settings of Gemini: JSON that people write comments into. */
export function createGeminiEdit({ command, args, env }: McpEntry): ConfigEdit {
  return {
    entry: () => JSON.stringify({ command, args, env }),
    find,
    insert,
    remove,
  }
}

interface Found {
  readonly root: ObjectPlace
  readonly servers?: { readonly member: Member; readonly object: ObjectPlace }
  readonly ours?: Member
}

/** Where things stand, or why that cannot be told. */
function look(text: string): Found | string {
  const root = findWhole(text)
  if (root === undefined) return 'it is no JSON object'
  const [member, second] = root.members.filter(({ key }) => key === SERVERS)
  if (second !== undefined) return `it has ${SERVERS} twice`
  if (member === undefined) return { root }
  const object = findObject(text, member.value)
  if (object === undefined) return `its ${SERVERS} is no object`
  const [ours, other] = object.members.filter(({ key }) => key === ENTRY_NAME)
  if (other !== undefined) return `it has ${ENTRY_NAME} twice`
  return { root, servers: { member, object }, ...(ours === undefined ? {} : { ours }) }
}

function find(text: string): EntryState {
  if (text.trim() === '') return { kind: 'absent' }
  const found = look(text)
  if (typeof found === 'string') return { kind: 'unclear', reason: found }
  if (found.ours === undefined) return { kind: 'absent' }
  const entry = text.slice(found.ours.value, found.ours.end)
  return isOurEntry(list(parseJson(entry), 'args')) && field(parseJson(entry), 'command') !== undefined
    ? { kind: 'ours', text: entry }
    : { kind: 'foreign' }
}

/**
 * Each case reads differently, so that what was there before can be told from what is there now: a file that was made
 * (one line), one that was empty (without its end), a member that was made (on one line), one that was there.
 */
function insert(text: string | undefined, entry: string): string {
  const made = `{ "${SERVERS}": { "${ENTRY_NAME}": ${entry} } }`
  if (text === undefined) return `${made}\n`
  if (text.trim() === '') return `${text}${made}`
  const found = look(text)
  if (typeof found === 'string') return text
  const { root, servers } = found
  const end = lineBreakOf(text)
  const step = stepOf(text, root)
  if (servers === undefined) {
    const member = `${end}${step}"${SERVERS}": { "${ENTRY_NAME}": ${entry} }`
    return putIn(text, root.inside, `${member}${root.members.length === 0 ? end : ','}`)
  }
  const { object } = servers
  const member = `${end}${step}${step}"${ENTRY_NAME}": ${entry}`
  return putIn(text, object.inside, `${member}${object.members.length === 0 ? `${end}${step}` : ','}`)
}

function putIn(text: string, at: number, piece: string): string {
  return text.slice(0, at) + piece + text.slice(at)
}

/** How far the members of the settings are indented. */
function stepOf(text: string, { members: [first] }: ObjectPlace): string {
  const [, indent] = /(?:^|\n)([ \t]+)$/.exec(text.slice(0, first?.start ?? 0)) ?? []
  return indent ?? '  '
}

function remove(text: string): string | undefined {
  const found = look(text)
  if (typeof found === 'string' || found.ours === undefined || found.servers === undefined) return text
  const { root, ours, servers } = found
  const entry = text.slice(ours.value, ours.end)
  if (insert(undefined, entry) === text) return undefined
  const stretches = [
    ...stretchesOf(text, root.inside, servers.member),
    ...stretchesOf(text, servers.object.inside, ours),
    { from: text.indexOf('{'), to: text.length },
  ]
  return takeBack(text, stretches, (before) => insert(before, entry)) ?? cutOut(text, servers.object, ours)
}

/** From the brace on; up to the comma, or as many spaces as may be ours. */
function* stretchesOf(text: string, from: number, member: Member): Generator<Stretch> {
  if (member.comma !== undefined) yield { from, to: member.comma }
  const [spaces = ''] = /^\s*/.exec(text.slice(member.end)) ?? []
  for (let more = 0; more <= spaces.length; more++) yield { from, to: member.end + more }
}

/** With one comma, and with the line it had to itself. */
function cutOut(text: string, { inside, members }: ObjectPlace, ours: Member): string {
  const before = members[members.indexOf(ours) - 1]
  const [spaces = ''] = /\s*$/.exec(text.slice(inside, ours.start)) ?? []
  const isLast = ours.comma === undefined && before?.comma !== undefined
  if (isLast)
    return (
      text.slice(0, before.comma - 1) +
      text.slice(before.comma, ours.start - spaces.length) +
      text.slice(ours.end)
    )
  return text.slice(0, ours.start - spaces.length) + text.slice(ours.comma ?? ours.end)
}
