import { basename, resolve } from 'node:path'
import { ThroughlineError } from '#base'
import { safeLine } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { endAs, runChild } from './record-child.ts'
import { serveRecorder } from './record-serve.ts'
import { openRecordSession } from './record-session.ts'
import { toSummaryJson, toSummaryLines } from './record-summary.ts'
import { findCodexTarget, toChildCommand, toChildEnv, toUpstreams } from './record-target.ts'
import type { Site } from './site.ts'

/** How long an answer may still come after the command has ended. */
const GRACE_MS = 100

/** `throughline record` */
export async function record(site: Site, values: Values, console: Console): Promise<number> {
  if (values.flag('serve')) return await serveRecorder(site, values, console)
  const command = values.args
  if (command.length === 0) throw noCommand()
  const codex = findCodexTarget(command, site)
  const dir = resolve(values.value('dir') ?? '.')
  const session = await openRecordSession({
    site,
    values,
    upstreams: toUpstreams(site, values, codex),
    mode: 'run',
    program: basename(command[0] ?? ''),
    folderFor: () => Promise.resolve(dir),
    onTrouble: (message) => console.say(`error: not recording: ${safeLine(message)}`),
  })
  const child = toChildCommand(command, session.proxy, codex)
  const end = await runChild(child, { env: toChildEnv(site.env, session.proxy) })
  await session.close(GRACE_MS)
  if (end.kind === 'not-run') {
    console.say(`error: ${safeLine(command[0] ?? '')} ${end.code === 127 ? 'is not there' : 'cannot be run'}`)
    return end.code
  }
  const summary = {
    conversations: session.views(),
    troubles: session.troubles(),
    missing: session.missing(),
    counts: session.proxy.counts,
  }
  if (values.flag('json')) console.say(toJsonLine(toSummaryJson(summary)).trimEnd())
  else if (!values.flag('quiet') || summary.missing > 0)
    for (const line of toSummaryLines(summary, console)) console.say(line)
  return await endAs(end)
}

function noCommand(): ThroughlineError {
  return new ThroughlineError('bad-usage', 'record needs a command', {
    hint: 'Give it behind two dashes: `throughline record -- claude`. Or let the proxy stay: --serve.',
  })
}
