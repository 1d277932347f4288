import type { IndexState } from '#wire'
import { toPlural, toSize } from '#render'

/** How far the index is, in a few words. */
export function describeIndex(index: IndexState): string {
  switch (index.state) {
    case 'none':
      return 'none'
    case 'building': {
      const { done, total } = index.bytes
      if (total === 0) return 'being built'
      return `${Math.floor((100 * done) / total)} % (${index.files.done} of ${toPlural(index.files.total, 'file')})`
    }
    case 'complete':
      return `complete, ${toSize(index.size)}`
    case 'failed':
      return 'failed; see `throughline logs`'
  }
}
