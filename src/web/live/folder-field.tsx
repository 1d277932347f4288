import type { VNode } from 'preact'
import { safeLine } from '#render'
import { toFolderName } from '../session-groups.ts'
import { toSuggestions } from './start-draft.ts'

/** The folder a session works in: typed, or one of those where somebody worked before. */
export function FolderField(props: {
  value: string
  recent: readonly string[]
  onChange: (workdir: string) => void
}): VNode {
  const { value, onChange } = props
  const suggestions = toSuggestions(props.recent, value)
  return (
    <div class="field">
      <label for="start-folder">Folder</label>
      <input
        id="start-folder"
        type="text"
        placeholder="/home/you/project"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        required
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {suggestions.length > 0 && (
        <div class="suggestions" role="group" aria-label="Folders you worked in">
          {suggestions.map((workdir) => (
            <button
              key={workdir}
              type="button"
              title={workdir}
              aria-label={workdir}
              aria-pressed={workdir === value}
              onClick={() => onChange(workdir)}
            >
              {safeLine(toFolderName(workdir))}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}
