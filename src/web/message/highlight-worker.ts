import { common, createLowlight } from 'lowlight'
import { number, string } from '#base'
import { toWireRuns } from './highlight-runs.ts'

const lowlight = createLowlight(common)

/** Asked `{ id, code, language }`, answers `{ id, runs }`; no runs for a language it does not know. */
self.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
  const id = number(data, 'id')
  const code = string(data, 'code')
  const language = string(data, 'language')
  if (id === undefined || code === undefined || language === undefined) return
  const runs = lowlight.registered(language) ? toWireRuns(lowlight.highlight(language, code)) : undefined
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no other side than its page
  self.postMessage({ id, runs })
})

// The time a call may take does not include the time it takes to load this.
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- as above
self.postMessage('ready')
