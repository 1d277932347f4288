import type { Notice } from '#wire'

/** What a person should know of, the last of it. */
export interface Notices {
  readonly notify: (notice: Omit<Notice, 'at'>) => void
  readonly notices: () => readonly Notice[]
}

const KEPT = 50

export function createNotices(now: () => number): Notices {
  const kept: Notice[] = []
  return {
    notify(notice) {
      kept.push({ ...notice, at: new Date(now()).toISOString() })
      if (kept.length > KEPT) kept.shift()
    },
    notices: () => kept,
  }
}
