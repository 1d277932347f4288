import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readDoors } from '../../scripts/doors.mjs'

// A change here is a change for everybody who imports us: look at it, then run `npm run vitest -- test/house -u`.
test.each(readDoors())('[API1] $specifier exports these names and no others', async ({ room, names }) => {
  const shown = names.map(({ kind, name }) => (kind === 'type' ? `type ${name}` : name))
  await expect(`${shown.join('\n')}\n`).toMatchFileSnapshot(
    join(import.meta.dirname, 'public-api', `${room}.txt`),
  )
})
