import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { SessionSummary } from '#model'
import type { SearchHit } from '#wire'
import { Icon } from '../icon.tsx'
import { toFolderName } from '../folder-names.ts'
import {
  addFacet,
  facetsOf,
  hasFacet,
  removeFacet,
  toggleFacet,
  type Facet,
  type FacetName,
} from './query-text.ts'

interface Props {
  readonly text: string
  readonly sessions: readonly SessionSummary[]
  readonly hits: readonly SearchHit[]
  readonly onChange: (text: string) => void
}

interface Option {
  readonly value: string
  readonly words: string
}

const SPEAKERS: readonly Option[] = [
  { value: 'human', words: 'People' },
  { value: 'agent', words: 'The agent' },
  { value: 'tool', words: 'Tools' },
  { value: 'program', words: 'Programs' },
  { value: 'system', words: 'The system' },
]
const TIERS: readonly Option[] = [
  { value: 'said', words: 'What was said' },
  { value: 'thought', words: 'Thinking' },
  { value: 'tool', words: 'Tools' },
]
const KINDS: readonly Option[] = [
  { value: 'prompt', words: 'Prompts' },
  { value: 'reply', words: 'Replies' },
  { value: 'result', words: 'Results of tools' },
  { value: 'command', words: 'Slash commands' },
  { value: 'summary', words: 'Summaries' },
  { value: 'notice', words: 'Notices' },
  { value: 'context', words: 'Context' },
]
const TOOLS: readonly string[] = [
  'Bash',
  'Read',
  'Edit',
  'Write',
  'Grep',
  'Glob',
  'Task',
  'WebFetch',
  'WebSearch',
]
const SPANS: readonly Option[] = [
  { value: 'on:today', words: 'Today' },
  { value: 'on:yesterday', words: 'Yesterday' },
  { value: 'after:7d', words: 'Last 7 days' },
  { value: 'after:30d', words: 'Last 30 days' },
  { value: 'after:90d', words: 'Last 90 days' },
]
const ERRORS: Facet = { name: 'has', value: 'error', negated: false }
/** A menu with more than this many is no menu. */
const MOST_OPTIONS = 40

/** What narrows the search: chips for what is there, menus for what could be. Everything edits the text alone. */
export function FacetBar({ text, sessions, hits, onChange }: Props): VNode {
  const [daysOpen, setDaysOpen] = useState(false)
  const facets = facetsOf(text)
  const add = (name: FacetName, value: string): void =>
    onChange(addFacet(text, { name, value, negated: false }))
  const valueOf = (name: FacetName): string => {
    const value = facets.find((facet) => facet.name === name && !facet.negated)?.value ?? ''
    return /^\d{4}-\d\d-\d\d$/.test(value) ? value : ''
  }
  function setDay(name: 'after' | 'before', value: string): void {
    const rest = facets
      .filter((facet) => facet.name === name || facet.name === 'on')
      .reduce(removeFacet, text)
    onChange(value === '' ? rest : addFacet(rest, { name, value, negated: false }))
  }
  function setSpan(span: string): void {
    if (span === 'days') {
      setDaysOpen(true)
      return
    }
    const [name, value = ''] = span.split(':')
    const rest = facets.filter(isDate).reduce(removeFacet, text)
    onChange(addFacet(rest, { name: name === 'on' ? 'on' : 'after', value, negated: false }))
  }

  return (
    <div class="facets">
      <div class="facet-menus" role="group" aria-label="Narrow the search">
        <Menu label="Who" options={SPEAKERS} onPick={(value) => add('speaker', value)} />
        <Menu label="Where" options={TIERS} onPick={(value) => add('in', value)} />
        <Menu label="Folder" options={toFolders(sessions)} onPick={(value) => add('workdir', value)} />
        <Menu label="Tool" options={toTools(hits)} onPick={(value) => add('tool', value)} />
        <Menu label="Kind" options={KINDS} onPick={(value) => add('kind', value)} />
        <Menu
          label="When"
          options={[...SPANS, { value: 'days', words: 'Between two days…' }]}
          onPick={setSpan}
        />
        <Menu label="Agent" options={toAgents(sessions)} onPick={(value) => add('agent', value)} />
        <button
          type="button"
          class="facet-menu"
          aria-pressed={hasFacet(text, ERRORS)}
          onClick={() => onChange(toggleFacet(text, ERRORS))}
        >
          Errors
        </button>
      </div>
      {daysOpen && (
        <div class="facet-days">
          <label>
            From
            <input
              type="date"
              value={valueOf('after')}
              onChange={(event) => setDay('after', event.currentTarget.value)}
            />
          </label>
          <label>
            Until before
            <input
              type="date"
              value={valueOf('before')}
              onChange={(event) => setDay('before', event.currentTarget.value)}
            />
          </label>
          <button type="button" class="button quiet" onClick={() => setDaysOpen(false)}>
            Done
          </button>
        </div>
      )}
      {facets.length > 0 && (
        <ul class="facet-chips" aria-label="What the search is narrowed to">
          {facets.map((facet) => (
            <li key={`${facet.start}`}>
              <button
                type="button"
                class={facet.negated ? 'chip without' : 'chip'}
                title={facet.value}
                onClick={() => onChange(removeFacet(text, facet))}
              >
                <span class="unseen">Remove </span>
                <span class="faint">{facet.negated ? `not ${facet.name}` : facet.name}</span>
                <span class="cut">{facet.name === 'workdir' ? toFolderName(facet.value) : facet.value}</span>
                <Icon name="cross" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

interface MenuProps {
  readonly label: string
  readonly options: readonly Option[]
  readonly onPick: (value: string) => void
}

/**
 * The browser's own menu: it knows keyboards, phones and screen readers best. It lies unseen over its name, which would
 * else be as wide as its longest choice.
 */
function Menu({ label, options, onPick }: MenuProps): VNode | null {
  if (options.length === 0) return null
  return (
    <span class="facet-menu">
      <span aria-hidden="true">{label}</span>
      <Icon name="down" />
      <select
        aria-label={`Narrow by ${label.toLowerCase()}`}
        value=""
        onChange={(event) => {
          const { value } = event.currentTarget
          event.currentTarget.value = ''
          if (value !== '') onPick(value)
        }}
      >
        <option value="">{label}</option>
        {options.map(({ value, words }) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </span>
  )
}

function isDate({ name }: Facet): boolean {
  return name === 'on' || name === 'after' || name === 'before'
}

function toAgents(sessions: readonly SessionSummary[]): readonly Option[] {
  return [...new Set(sessions.map(({ agent }) => agent))].toSorted().map((value) => ({ value, words: value }))
}

/** The folders of the latest sessions. */
function toFolders(sessions: readonly SessionSummary[]): readonly Option[] {
  const folders = new Set<string>()
  for (const { workdirs } of sessions) {
    const last = workdirs.at(-1)
    if (last !== undefined && last !== '') folders.add(last)
    if (folders.size >= MOST_OPTIONS) break
  }
  return [...folders].map((value) => ({ value, words: toFolderName(value) }))
}

/** The usual ones, and those that came up. */
function toTools(hits: readonly SearchHit[]): readonly Option[] {
  const seen = hits.map(({ tool }) => tool ?? '').filter((tool) => tool !== '')
  return [...new Set([...TOOLS, ...seen])]
    .slice(0, MOST_OPTIONS)
    .map((value) => ({ value, words: value }))
    .concat({ value: 'mcp__*', words: 'Any MCP tool' })
}
