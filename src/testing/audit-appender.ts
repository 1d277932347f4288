/**
 * A host to be killed, as far as its audit log goes: notes calls without end, and decides about each of them. Prints
 * `open`, then the id of each call whose decision is on disk.
 *
 *     node dist/testing/audit-appender.js <home> <session> <first number>
 */
import { writeSync } from 'node:fs'
import { createClock, openAudit } from '#live'

const [home = '', sessionId = '', first = '0'] = process.argv.slice(2)
const clock = createClock(() => Date.now())
const audit = await openAudit(home, sessionId, { clock })
writeSync(1, 'open\n')
for (let n = Number(first); ; n++) {
  const id = `call-${n}`
  const input = { command: 'x'.repeat(n % 3_000) }
  void audit.see({ kind: 'message', role: 'agent', blocks: [{ kind: 'tool-use', id, name: 'Bash', input }] })
  const at = new Date(clock.now()).toISOString()
  const state = { state: 'resolved', resolution: { kind: 'allow', rules: [] }, by: 'me', at } as const
  await audit.record({ kind: 'attention.settled', at, id, state })
  writeSync(1, `${id}\n`)
}
