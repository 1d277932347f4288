/**
 * Builds an index in a process of its own, to be killed or measured. Prints a line of JSON when it is complete: how
 * many sessions and hits there are, and the most memory the process had.
 *
 *     node dist/testing/index-builder.js <home> <Claude Code's config folder> <a word to search for> [<ms between words>]
 */
import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openThroughline } from '#app'
import { peakMemoryKb } from './peak-memory.ts'

const [home = '', claudeDir = '', word = '', stay = ''] = process.argv.slice(2)
const BEAT_MS = 5
const begun = performance.now()
const throughline = await openThroughline({
  index: true,
  env: { THROUGHLINE_HOME: home, CLAUDE_CONFIG_DIR: claudeDir, THROUGHLINE_ARCHIVE: 'off' },
})
writeSync(1, 'open\n')
// How long other work of this thread had to wait, at the worst.
let lag = 0
let last = performance.now()
const beat = setInterval(() => {
  const now = performance.now()
  lag = Math.max(lag, now - last - BEAT_MS)
  last = now
}, BEAT_MS)

for (;;) {
  await sleep(20)
  await throughline.settled()
  const { index } = await throughline.health()
  if (index.state === 'complete') break
}
clearInterval(beat)
const { total } = await throughline.search({ q: word })
const { sessions } = await throughline.list()
writeSync(
  1,
  `${JSON.stringify({
    sessions: sessions.length,
    hits: total.count,
    peakMb: Math.round(peakMemoryKb() / 1024),
    lagMs: Math.round(lag),
    ms: Math.round(performance.now() - begun),
  })}\n`,
)
if (stay !== '') await sleep(Number(stay))
await throughline.close()
