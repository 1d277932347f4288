import { ThroughlineError } from '#base'
import type { AuditedInput, AuditEntry, AuditReport } from '#model'
import type { Throughline } from '#wire'
import { exactLine, safeLine, toSize } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { findToRead } from './find-session.ts'
import { toJsonLine } from './json.ts'
import { withLive } from './live-session.ts'
import { toAge, toShortId } from './short.ts'
import type { Site } from './site.ts'
import { toTable } from './table.ts'

/** `throughline audit` */
export async function audit(site: Site, values: Values, console: Console): Promise<number> {
  return await withLive(site, async (throughline) => {
    const { arg } = values
    if (arg === undefined) return await listAll(throughline, values, console)
    const report = await throughline.live.audit(await findAudited(throughline, arg, console))
    const isWhole = report.verdict.kind === 'whole'
    if (values.flag('json')) await console.out.write(toJsonLine(report))
    else {
      for (const entry of report.entries) await console.out.write(toEntryLine(entry, console))
      await console.out.flush()
      sayVerdict(report, console)
    }
    return isWhole ? 0 : 1
  })
}

async function listAll(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const audits = await throughline.live.audits()
  if (values.flag('json')) await console.out.write(toJsonLine({ audits }))
  else if (audits.length === 0) console.say('No session was run here yet.')
  else {
    const columns = [
      { title: 'session' },
      { title: 'size', align: 'right' as const },
      { title: 'changed', align: 'right' as const },
    ]
    const rows = audits.map(({ sessionId, bytes, changedAt }) => [
      { text: safeLine(sessionId), style: 'code' as const },
      { text: toSize(bytes) },
      { text: toAge(changedAt, console.now) },
    ])
    await console.out.write(toTable(columns, rows, console))
  }
  return 0
}

/** The record may be there when the session is not any more. */
async function findAudited(throughline: Throughline, query: string, console: Console): Promise<string> {
  const ids = (await throughline.live.audits()).map(({ sessionId }) => sessionId)
  const found = ids.includes(query) ? [query] : ids.filter((id) => id.startsWith(query))
  const [only, another] = found
  if (only !== undefined && another === undefined) return only
  const { id } = await findToRead(throughline, query, console)
  if (ids.includes(id)) return id
  throw new ThroughlineError(
    'session-not-found',
    `session ${id} was not run here: there is no record of it`,
    {
      hint: 'See which have one with `throughline audit`.',
    },
  )
}

function toEntryLine(entry: AuditEntry, { paint }: Console): string {
  const at = paint(
    'dim',
    safeLine(entry.at)
      .replace('T', ' ')
      .replace(/\.\d+Z$/, ''),
  )
  return `${at}  ${describe(entry)}\n`
}

function describe(entry: AuditEntry): string {
  switch (entry.kind) {
    case 'session.started':
      return `started ${safeLine(entry.agent)} in ${exactLine(entry.workdir)}, mode ${safeLine(entry.mode)}${entry.trusted ? ', folder trusted' : ''}`
    case 'tool.called':
      return `called ${exactLine(entry.tool)}  ${toInputWords(entry.input)}`
    case 'tool.returned':
      return `${entry.isError ? 'failed' : 'returned'} ${safeLine(entry.toolUseId)}`
    case 'attention.opened':
      return `asked for ${exactLine(entry.asked.tool ?? 'an answer')}  ${entry.asked.input === undefined ? '' : `${toInputWords(entry.asked.input)}  `}${toShortId(entry.id)}`
    case 'attention.settled': {
      const { settled } = entry
      const rules = settled.end === 'allow' ? settled.rules.map(({ words }) => exactLine(words)) : []
      const how =
        settled.end === 'lapsed'
          ? `lapsed (${safeLine(settled.reason)})`
          : `${settled.end} by ${exactLine(settled.by)}`
      const edited =
        settled.end === 'allow' && settled.edited !== undefined
          ? `, with another input: ${toInputWords(settled.edited)}`
          : ''
      return `${how}${edited}${rules.length === 0 ? '' : `, and from then on ${rules.join(', ')}`}  ${toShortId(entry.id)}`
    }
    case 'attention.voided':
      return `did not come about  ${toShortId(entry.id)}`
    case 'mode.changed':
      return `mode ${safeLine(entry.mode)} by ${exactLine(entry.by)}`
    case 'model.changed':
      return `model ${safeLine(entry.model)} by ${exactLine(entry.by)}`
    case 'session.ended':
      return `ended (${safeLine(entry.reason)})`
    case 'tail.recovered':
      return `${entry.bytes} bytes of a cut line were set aside`
    case 'lines.lost':
      return `${entry.count} lines could not be written`
    case 'unknown':
      return exactLine(JSON.stringify(entry.value))
  }
}

/** What a tool was called with, all that the record has of it, in one line. */
function toInputWords({ input, head, bytes }: AuditedInput): string {
  if (head === undefined) return exactLine(JSON.stringify(input) ?? '')
  return `${exactLine(head)}…${bytes === undefined ? '' : ` (${toSize(bytes)} in all)`}`
}

function sayVerdict({ verdict }: AuditReport, console: Console): void {
  if (verdict.kind === 'whole') {
    const head = verdict.head === undefined ? '' : `, head ${verdict.head}`
    console.say(`The record is whole: ${verdict.lines} lines${head}`)
    return
  }
  console.say(`error: the record is broken at line ${verdict.line}: ${verdict.why}`)
  console.say(
    verdict.why === 'cut-at-end'
      ? 'next: a host that was killed leaves this; the lines before it are as they were written.'
      : 'next: somebody changed it, or the disk did. Compare it with a copy.',
  )
}
