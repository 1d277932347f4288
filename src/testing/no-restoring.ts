import type { RestoreCalls } from '#wire'

function refuse(): never {
  throw new Error('nothing is restored here')
}

/** Of something that restores nothing. */
export const NO_RESTORING: RestoreCalls = {
  restore: refuse,
  preflight: refuse,
  repair: refuse,
  compact: refuse,
  undoCompaction: refuse,
  compactions: refuse,
  convert: refuse,
  copy: refuse,
  lineage: refuse,
}
