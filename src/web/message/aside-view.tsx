import type { ComponentChildren, VNode } from 'preact'
import { parseJson } from '#base'
import { textOf, type AsideMessage, type Entry, type EntryKind } from '#model'
import { toJson, toPlural } from '#render'
import { Fold } from './fold.tsx'
import { hasMark, toMarked } from './marks.tsx'
import type { PassageContext } from './passage-context.ts'
import { Moment } from './passage-tools.tsx'
import { TerminalOutput } from './lazy-output.ts'

/** What surrounds the conversation: said on one line, shown when it is opened. */
export function AsideView({ aside, context }: { aside: AsideMessage; context: PassageContext }): VNode {
  const { marks } = context
  const isInside = aside.entries.some((entry) => hasMark(valueOf(entry), marks))
  return (
    <Fold
      of={aside.entries[0] ?? aside}
      class={isOrdinary(aside.entries) && !isInside ? 'aside aside-ordinary' : 'aside'}
      summary={
        <>
          <span class="aside-dots" aria-hidden="true" />
          <span class="aside-words">{describeAside(aside.entries)}</span>
          {isInside ? <mark class="call-match">match inside</mark> : null}
        </>
      }
    >
      {() => (
        <ul class="aside-entries">
          {aside.entries.map((entry) => (
            <li key={entry.id}>
              <code>{toMarked(entry.type, marks)}</code> <Moment at={entry.at} />
              {toBody(entry, marks)}
            </li>
          ))}
        </ul>
      )}
    </Fold>
  )
}

const NAMES: Readonly<Partial<Record<EntryKind, string>>> = {
  context: 'context entry',
  injection: 'injected text',
  record: 'record',
  unknown: 'unknown line',
  reply: 'line of the client',
  notice: 'notice',
}

/** Bookkeeping of the agent stands between any two messages: it is said when a person points at it. */
function isOrdinary(entries: readonly Entry[]): boolean {
  return entries.every(({ kind }) => kind === 'record' || kind === 'context' || kind === 'notice')
}

/** `3 context entries, 1 unknown line`. */
function describeAside(entries: readonly Entry[]): string {
  const counts = new Map<string, number>()
  for (const { kind } of entries) {
    const name = NAMES[kind] ?? 'entry'
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, n]) => toPlural(n, name)).join(', ')
}

function toBody(entry: Entry, marks: readonly string[]): ComponentChildren {
  const value = valueOf(entry)
  if (value.trim() === '') return null
  // A title or a mode is one word or a few; a box around it would be louder than it.
  if (value.length <= 120 && !value.includes('\n'))
    return <span class="aside-value">{toMarked(value, marks)}</span>
  return <TerminalOutput of={entry} text={value} marks={marks} what="entry" />
}

/** What an entry carries: its words, or the line itself where it came along. */
function valueOf(entry: Entry): string {
  switch (entry.kind) {
    case 'record':
      return entry.value ?? rawOf(entry)
    case 'injection':
    case 'reply':
    case 'prompt':
    case 'summary':
      return textOf(entry.blocks)
    case 'notice':
    case 'interruption':
      return entry.text
    case 'context':
    case 'unknown':
    case 'command':
    case 'compaction':
    case 'result':
    case 'delegated':
    case 'oversize':
      return rawOf(entry)
  }
}

function rawOf(entry: Entry): string {
  if (entry.raw.length === 0) return ''
  const line = new TextDecoder().decode(entry.raw)
  const value = parseJson(line)
  return value === undefined ? line : toJson(value)
}
