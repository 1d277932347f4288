import type { SessionSummary } from '#model'
import type { Throughline } from '#wire'

/** Who said a prompt of a session, by name; nothing for what the person here said himself. */
export async function readAuthors(
  { team }: Pick<Throughline, 'team'>,
  { id, origin }: Pick<SessionSummary, 'id' | 'origin'>,
): Promise<(entryId: string) => string | undefined> {
  const [authors, { self }] = await Promise.all([team.authors(id), team.status()])
  const names = new Map(authors.map(({ entryId, person }) => [entryId, person]))
  const owner = origin?.mine === false ? origin.person : undefined
  return (entryId) => {
    const person = names.get(entryId) ?? owner
    return person === self?.person ? undefined : person
  }
}
