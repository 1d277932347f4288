import type { Resolution } from '#model'

/**
 * What an agent is told in place of a result when a call was not allowed. Readers of transcripts recognise these
 * sentences (`src/sources/denial.ts`), so that a call that a person denied never reads as one that failed.
 */
export function toDenialWords(resolution: Pick<Denial, 'words'> | undefined): string {
  if (resolution === undefined) return 'Nobody answered, so this was not allowed.'
  const words = resolution.words?.trim() ?? ''
  return words === '' ? 'The user denied this call.' : `The user denied this call; the user said:\n${words}`
}

type Denial = Extract<Resolution, { readonly kind: 'deny' }>
