/**
 * A process to be killed: puts documents without end, and edits each of them once. Prints `open`, then `put <id>` and
 * `patch <id>` when that is on disk.
 *
 *     node dist/testing/document-writer.js <home> <name>
 */
import { writeSync } from 'node:fs'
import { openDocuments } from '#memory'

const [home = '', name = ''] = process.argv.slice(2)
let minted = 0
const documents = await openDocuments({
  home,
  now: () => Date.now(),
  mintId: () => `${name}-${process.pid}-${minted++}`,
})
writeSync(1, 'open\n')
for (let n = 0; ; n++) {
  const { document } = await documents.put(
    { type: 'learning', content: `${name} ${n} ${'x'.repeat((n * 997) % 20_000)}` },
    { by: name },
  )
  writeSync(1, `put ${document.id}\n`)
  await documents.patch(document.id, { content: `edited ${document.content}` }, { by: name })
  writeSync(1, `patch ${document.id}\n`)
}
