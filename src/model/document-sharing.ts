import type { SessionOrigin } from './team.ts'

/** Who may read a document beside its owner: nobody, those with whom its folder is shared, the whole team. */
export type DocumentScope = 'private' | 'workdir' | 'team'

/** A version that another one does not stand for: whoever wrote that did not know of it. */
export interface DocumentSide {
  /** What names the version, on every machine the same. */
  readonly key: string
  readonly version: number
  readonly by: string
  readonly at: string
  /** The machine it was written on; not there: this one. */
  readonly elsewhere?: SessionOrigin | undefined
  /** The document is as this one says, until a person decides. */
  readonly isShown: boolean
}
