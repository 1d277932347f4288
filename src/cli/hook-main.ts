import { readFileSync, writeSync } from 'node:fs'
import { answerHook } from './hook.ts'

// What Claude Code runs while a permission dialog is open, and when a session begins: `hook.js <home>`. Whatever happens, it succeeds: a hook
// that fails would be in the person's way.
const [home] = process.argv.slice(2)
const output =
  home === undefined
    ? undefined
    : await answerHook({
        home,
        env: process.env,
        read: () => readFileSync(0, 'utf8'),
        now: Date.now,
        parent: () => process.ppid,
      }).catch(() => undefined)
if (output !== undefined) writeSync(1, `${JSON.stringify(output)}\n`)
// The connection is kept open for a next question that never comes.
process.exit(0)
