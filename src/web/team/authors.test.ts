import { expect, test } from 'vitest'
import { NO_TEAM } from '#testing'
import { readAuthors } from './authors.ts'

const self = { team: 'harbour', person: 'ada', role: 'member', machine: 'desk', origin: 'o1' } as const
const team = {
  ...NO_TEAM,
  authors: () =>
    Promise.resolve([
      { entryId: 'e1', person: 'ada', machine: 'desk' },
      { entryId: 'e2', person: 'bob', machine: 'bench' },
    ]),
  status: () =>
    Promise.resolve({
      state: 'connected' as const,
      self,
      outbox: { waiting: 0, bytes: 0, held: [] },
      mirror: { files: 0, bytes: 0 },
    }),
}

test('[TEA107] what somebody else said has his name on it, what the person here said has none', async () => {
  const own = await readAuthors({ team }, { id: 's1' })
  expect(['e1', 'e2', 'e3'].map(own)).toEqual([undefined, 'bob', undefined])
  const origin = { origin: 'o2', machine: 'bench', person: 'bob', mine: false }
  const shared = await readAuthors({ team }, { id: 's1', origin })
  // What nobody is named for was said by whoever has the session.
  expect(['e1', 'e2', 'e3'].map(shared)).toEqual([undefined, 'bob', 'bob'])
})
