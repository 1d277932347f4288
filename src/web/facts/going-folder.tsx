import type { VNode } from 'preact'

/** The folder to go on in. */
export function GoingFolder(props: {
  words: string
  folder: string
  onFolder: (folder: string) => void
}): VNode {
  return (
    <label class="going-folder">
      <span>{props.words}</span>
      <input
        type="text"
        value={props.folder}
        spellcheck={false}
        placeholder="/path/to/the/folder"
        onInput={(event) => props.onFolder(event.currentTarget.value)}
      />
    </label>
  )
}
