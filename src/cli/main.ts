import { openThroughline, readConfig } from '#app'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseJson, string } from '#base'
import { createConsole } from './console.ts'
import { createOutput, OutputClosed } from './output.ts'
import { report, run } from './run.ts'

// Whatever is written from here on is for its owner only.
process.umask(0o077)

const { stdout, stderr, env } = process
const out = createOutput(stdout)
// A closed standard error must not end the work.
stderr.on('error', () => {})

const args = process.argv.slice(2)
const shown = {
  console: createConsole({ out, stdout, stderr, env, home: homedir(), now: Date.now() }),
  debug: env['THROUGHLINE_DEBUG'] === '1',
}
// Errors that nobody waited for are told like any other. A daemon has its own way, and goes on.
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    if (process.listenerCount(event) > 1) return
    report(error, args, shown)
    process.exit(1)
  })
}

process.exitCode = await run(args, {
  ...shown,
  site: () => ({
    ...readConfig({ env, homeDir: homedir() }),
    env,
    userHome: homedir(),
    program: [process.execPath, fileURLToPath(new URL('throughline.js', import.meta.url))],
    version: readVersion(),
    openLocal: () => openThroughline({ env }),
  }),
})
try {
  await out.flush()
} catch (error) {
  if (!(error instanceof OutputClosed)) process.exitCode = report(error, args, shown)
}

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return string(parseJson(text), 'version') ?? 'unknown'
}
