import type { MemoryDocument } from './document.ts'

/** A document to be: what is left out has its usual value. */
export type DocumentDraft = Pick<MemoryDocument, 'type' | 'content'> & Partial<MemoryDocument>

/** What of a document can be edited. `undefined` takes a value away. */
export type DocumentPatch = {
  readonly [
    Key in Exclude<keyof MemoryDocument, 'id' | 'createdAt' | 'updatedAt' | 'elsewhere' | 'conflict'>
  ]?: MemoryDocument[Key] | (undefined extends MemoryDocument[Key] ? undefined : never)
}
