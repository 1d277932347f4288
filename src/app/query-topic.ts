import { ThroughlineError } from '#base'
import type { IndexedHit, Watch, WatchOptions } from '#ingest'
import { isSaidElsewhere } from '#model'
import type { LiveEvent, SearchHit, SubscribeOptions, Subscription } from '#wire'
import type { Keeper } from './keeper.ts'
import type { TeamSearch } from './team-search.ts'

/** What is listened to. */
export interface QueryPlaces {
  readonly keeper: Pick<Keeper, 'opening' | 'sessionOf'>
  /** What other machines write. Not there where there is no team. */
  readonly team?: Pick<TeamSearch, 'watch'> | undefined
}

/** Entries that match, as they are indexed: here, and on other machines of the team. */
export async function subscribeToQuery(
  { keeper, team }: QueryPlaces,
  q: string,
  options: SubscribeOptions,
): Promise<Subscription> {
  const index = await keeper.opening
  if (index === undefined) {
    throw new ThroughlineError('index-unavailable', 'there is no index to wait for news of', {
      hint: 'Start the daemon with `throughline`, or open with `{ index: true }`.',
    })
  }
  let { cursor } = options
  const places = (cursor ?? '').split('|')
  const watches: Watch[] = []

  function send(event: LiveEvent): void {
    ;({ cursor } = event)
    void options.onEvent(event)
  }

  /** With a team, a cursor says for both how far they are. */
  function listen(side: number, watch: (options: WatchOptions) => Watch): void {
    const from = places[side]
    const at = (place: string): string => {
      places[side] = place
      return team === undefined ? place : `${places[0] ?? ''}|${places[1] ?? ''}`
    }
    watches.push(
      watch({
        ...(from === undefined || from === '' ? {} : { cursor: from }),
        onHit(indexed, place) {
          const hit = toHit(keeper, indexed)
          if (hit !== undefined) send({ kind: 'hit.found', hit, cursor: at(place) })
        },
        onReset: (place) => send({ kind: 'reset', reason: 'index-rebuilt', cursor: at(place) }),
        onCaughtUp: (place) => send({ kind: 'caught-up', cursor: at(place) }),
      }),
    )
  }

  listen(0, (how) => index.watch(q, how))
  if (team !== undefined) listen(1, (how) => team.watch(q, how))
  return {
    get cursor() {
      return cursor
    },
    close() {
      for (const watch of watches) watch.close()
    },
  }
}

/**
 * A hit with what the catalogue knows of its session; `undefined` when the session is not to be shown, or when it was
 * said in another one that is, and copied from there.
 */
export function toHit(
  keeper: Pick<Keeper, 'sessionOf'>,
  { path, number: _number, weight: _weight, after: _after, ...hit }: IndexedHit,
): SearchHit | undefined {
  const session = keeper.sessionOf(path)
  if (session === undefined || isSaidElsewhere(session, hit.entry.at)) return undefined
  const { id, agent, name, workdirs, origin, demo } = session
  const of = {
    id,
    agent,
    name,
    workdir: workdirs[0],
    ...(origin === undefined ? {} : { origin }),
    ...(demo === undefined ? {} : { demo }),
  }
  return { session: of, ...hit }
}
