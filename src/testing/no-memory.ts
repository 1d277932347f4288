import type { MemoryCalls } from '#wire'

function refuse(): never {
  throw new Error('nothing is remembered here')
}

/** The memory of something that has none. */
export const NO_MEMORY: MemoryCalls = {
  query: refuse,
  get: refuse,
  versions: refuse,
  put: refuse,
  remember: refuse,
  edit: refuse,
  act: refuse,
  review: refuse,
  trace: refuse,
  suggestTags: refuse,
  wakeUp: refuse,
  wakeUps: refuse,
  wakeElsewhere: refuse,
  recall: refuse,
  import: refuse,
  export: refuse,
  artifact: refuse,
}
