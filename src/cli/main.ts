#!/usr/bin/env node
import { openThroughline, readConfig } from '#app'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseJson, string } from '#base'
import { createConsole } from './console.ts'
import { createOutput, OutputClosed } from './output.ts'
import { run } from './run.ts'

// Whatever is written from here on is for its owner only.
process.umask(0o077)

const { stdout, stderr, env } = process
const out = createOutput(stdout)
// A closed standard error must not end the work.
stderr.on('error', () => {})

process.exitCode = await run(process.argv.slice(2), {
  console: createConsole({ out, stdout, stderr, env, home: homedir(), now: Date.now() }),
  debug: env['THROUGHLINE_DEBUG'] === '1',
  site: () => ({
    ...readConfig({ env, homeDir: homedir() }),
    env,
    userHome: homedir(),
    program: [process.execPath, fileURLToPath(import.meta.url)],
    version: readVersion(),
    openLocal: () => openThroughline({ env }),
  }),
})
try {
  await out.flush()
} catch (error) {
  if (!(error instanceof OutputClosed)) throw error
}

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return string(parseJson(text), 'version') ?? 'unknown'
}
