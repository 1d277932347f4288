import { string, type JsonObject } from '#base'
import type { Answer } from './answer.ts'

/** Puts an answer together from what its provider says of it, event by event. Never throws on content. */
export interface AnswerFold {
  /** The next event of a stream. */
  event(value: JsonObject): void
  /** A body that is no stream, or the next of several in a list. */
  whole(value: JsonObject): void
  /** The provider said that nothing more comes. */
  done(): void
  /** What was heard; nothing when no message began. */
  end(): Answer | undefined
}

/** What a provider says of its failure, in one line. */
export function toFailure(error: unknown): string {
  if (typeof error === 'string') return error
  const kind = string(error, 'type') ?? string(error, 'code') ?? string(error, 'status')
  const said = string(error, 'message')
  return [kind, said].filter((part) => part !== undefined).join(': ') || 'the provider gave no reason'
}
