import { openThroughline } from '#app'
import { peakMemoryKb } from './peak-memory.ts'

/**
 * A program of its own for the memory test: compacts a session, restores what is left of it, and prints what came of it
 * and the most memory it ever had.
 *
 *     node dist/testing/compaction-measured.js <configuration of Claude Code> <home> <session>
 */
const [configDir = '', home = '', id = ''] = process.argv.slice(2)
const throughline = await openThroughline({ env: { CLAUDE_CONFIG_DIR: configDir, THROUGHLINE_HOME: home } })
const before = await throughline.restoring.preflight(id)
const { turns, tokens } = await throughline.restoring.compact(id)
const { messages } = await throughline.restoring.restore(id, 'anthropic')
const { isFull } = await throughline.restoring.preflight(id)
await throughline.close()
const peakMb = Math.round(peakMemoryKb() / 1024)
const characters = JSON.stringify(messages).length
process.stdout.write(
  JSON.stringify({ ...turns, wasFull: before.isFull, tokens: tokens.after, isFull, characters, peakMb }),
)
