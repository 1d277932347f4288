#!/usr/bin/env node
import { answerEntire } from '#recorder'
import { readFileSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

// What Entire runs, once for each thing that it wants to know of a recording: `entire-agent-throughline <subcommand>`.
try {
  const answer = await answerEntire(process.argv.slice(2), {
    repo: resolve(process.env['ENTIRE_REPO_ROOT'] || process.cwd()),
    home: resolve(process.env['THROUGHLINE_HOME'] || join(homedir(), '.throughline')),
    read: () => readFileSync(0),
    now: Date.now,
  })
  if (answer !== undefined)
    process.stdout.write(Buffer.isBuffer(answer) ? answer : `${JSON.stringify(answer)}\n`)
} catch (error) {
  process.exitCode = 1
  writeSync(2, `${error instanceof Error ? error.message : String(error)}\n`)
}
