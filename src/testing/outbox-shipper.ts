/**
 * An outbox to be killed: ships every file of a folder to a team, again and again, and prints `shipped` whenever nothing
 * is left to ship.
 *
 *     node dist/testing/outbox-shipper.js <address of the machine> <folder> <state>
 */
import { readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openOutbox } from '#ingest'
import { openTeamLog, toPostgresAddress } from '#store'

const [url = '', folder = '', path = ''] = process.argv.slice(2)
const outbox = await openOutbox({
  openLog: () => openTeamLog({ address: toPostgresAddress(url) }),
  path,
  mask: (line) => Promise.resolve(line),
})
for (;;) {
  for (const name of readdirSync(folder)) {
    outbox.offer({ kind: 'transcript', path: join(folder, name), session: name, scope: 'private' })
  }
  await outbox.drained()
  // Straight into the pipe: a stream of Node would keep it back, and a kill would take it along.
  writeSync(1, 'shipped\n')
}
