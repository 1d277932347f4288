import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClaudeDriver } from '#drivers'
import { play } from '#testing'
import { CLAUDE, openClaudePlace } from './drivers-claude-place.ts'

/** Stands between the SDK and the real program, and lets one direction go when a file appears. */
function relay(side: 'in' | 'out', marker: string): string {
  return [
    `#!${process.execPath}`,
    "const { spawn } = require('node:child_process')",
    "const { existsSync } = require('node:fs')",
    `const child = spawn(${JSON.stringify(CLAUDE)}, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'inherit'] })`,
    'process.stdin.pipe(child.stdin)',
    'child.stdout.pipe(process.stdout)',
    "child.on('exit', (code) => process.exit(code ?? 1))",
    "child.stdin.on('error', () => {})",
    "process.on('SIGTERM', () => child.kill('SIGTERM'))",
    'setInterval(() => {',
    `  if (!existsSync(${JSON.stringify(marker)})) return`,
    side === 'in'
      ? '  child.stdin.destroy()'
      : "  child.stdout.destroy(); try { require('node:fs').closeSync(1) } catch {}",
    '}, 20)',
  ].join('\n')
}

test.each(['in', 'out'] as const)(
  '[FLT34] the channel to the agent breaks (%s) while it asks: the session is over at once, and nothing runs',
  async (side) => {
    const place = await openClaudePlace()
    const marker = join(place.root, 'break')
    const executable = join(place.root, 'relay.cjs')
    writeFileSync(executable, relay(side, marker), { mode: 0o755 })
    const one = await play({ ...place, driver: createClaudeDriver({ executable }) })
    try {
      await one.send('[[tool Bash {"command":"touch ran"}]]')
      const { signal, answer } = await one.nextAsk()
      writeFileSync(marker, '')
      expect(await one.heard('ended')).toMatchObject({ reason: 'crashed' })
      expect(signal.aborted).toBe(true)
      answer({ kind: 'allow', rules: [] })
      await expect(one.send('anybody there?')).rejects.toMatchObject({ code: 'agent-gone' })
      expect(existsSync(join(place.workdir, 'ran'))).toBe(false)
    } finally {
      await one.agent.close()
      await place.close()
    }
  },
)
