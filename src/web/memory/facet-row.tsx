import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { isDocumentCategory, isDocumentType, type MemoryDocument } from '#model'
import { safeLine } from '#render'
import { Icon } from '../icon.tsx'
import { toFolderName } from '../folder-names.ts'
import { NO_FACETS, toOptions, type Facets } from './document-facets.ts'
import { STATES } from './document-store.ts'
import { CATEGORY_NAMES, STATE_NAMES, TYPE_NAMES, toAuthor } from './document-words.ts'

interface Props {
  readonly documents: readonly MemoryDocument[]
  readonly facets: Facets
  readonly onChange: (part: Partial<Facets>) => void
}

const TYPES = ['', 'learning', 'marker', 'teaching'] as const

/** What narrows the list: words, and one menu for each facet. */
export function FacetRow({ documents, facets, onChange }: Props): VNode {
  const options = useMemo(
    () => ({
      tags: toOptions(documents, ({ tags }) => tags),
      workdirs: toOptions(documents, ({ workdir }) => (workdir === undefined ? [] : [workdir])),
      authors: toOptions(documents, (document) => [toAuthor(document)]),
    }),
    [documents],
  )
  const isNarrowed = JSON.stringify({ ...NO_FACETS, ...facets }) !== JSON.stringify(NO_FACETS)
  return (
    <div class="memory-facets" role="search" aria-label="Memory">
      <div class="memory-search">
        <Icon name="search" />
        <input
          id="memory-search"
          type="search"
          placeholder="Search what is remembered"
          aria-label="Search what is remembered"
          autocomplete="off"
          spellcheck={false}
          value={facets.text}
          onInput={(event) => onChange({ text: event.currentTarget.value })}
        />
      </div>
      <div class="choice" role="group" aria-label="Type">
        {TYPES.map((type) => (
          <button
            key={type}
            type="button"
            aria-pressed={facets.type === type}
            onClick={() => onChange({ type: isDocumentType(type) ? type : '' })}
          >
            {type === '' ? 'All' : `${TYPE_NAMES[type]}s`}
          </button>
        ))}
      </div>
      <div class="memory-menus">
        <Menu
          label="Category"
          value={facets.category}
          options={(['knowledge', 'operational', 'identity'] as const).map((category) => ({
            value: category,
            words: CATEGORY_NAMES[category],
          }))}
          onChange={(value) => onChange({ category: isDocumentCategory(value) ? value : '' })}
        />
        <Menu
          label="Tag"
          value={facets.tag}
          options={options.tags.map(({ value, count }) => ({
            value,
            words: `#${safeLine(value)} (${count})`,
          }))}
          onChange={(tag) => onChange({ tag })}
        />
        <Menu
          label="Folder"
          value={facets.workdir}
          options={options.workdirs.map(({ value, count }) => ({
            value,
            words: `${safeLine(toFolderName(value))} (${count})`,
          }))}
          onChange={(workdir) => onChange({ workdir })}
        />
        <Menu
          label="By"
          value={facets.who}
          options={options.authors.map(({ value, count }) => ({
            value,
            words: `${value} (${count})`,
          }))}
          onChange={(who) => onChange({ who })}
        />
        <label class="memory-menu">
          <span class="unseen">State</span>
          <select
            aria-label="State"
            class={facets.state === 'now' ? '' : 'chosen'}
            value={facets.state}
            onChange={(event) => onChange({ state: toState(event.currentTarget.value) })}
          >
            <option value="now">Counts now</option>
            {STATES.map((state) => (
              <option key={state} value={state}>
                {STATE_NAMES[state]}
              </option>
            ))}
            <option value="all">Any state</option>
          </select>
        </label>
        {isNarrowed ? (
          <button type="button" class="button quiet" onClick={() => onChange(NO_FACETS)}>
            Clear
          </button>
        ) : null}
      </div>
    </div>
  )
}

function toState(value: string): Facets['state'] {
  if (value === 'all') return 'all'
  return STATES.find((state) => state === value) ?? 'now'
}

function Menu(props: {
  label: string
  value: string
  options: readonly { readonly value: string; readonly words: string }[]
  onChange: (value: string) => void
}): VNode | null {
  if (props.options.length === 0) return null
  return (
    <label class="memory-menu">
      <span class="unseen">{props.label}</span>
      <select
        aria-label={props.label}
        class={props.value === '' ? '' : 'chosen'}
        value={props.value}
        onChange={(event) => props.onChange(event.currentTarget.value)}
      >
        <option value="">{props.label}</option>
        {props.options.map(({ value, words }) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}
