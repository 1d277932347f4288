import type { CheckReport, Finding, Problem, Throughline } from '#app'
import type { Notice } from '#wire'
import { safeLine, toCount, toPlural, wrapText, type Style } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { findToRead } from './find-session.ts'
import { toJsonLine } from './json.ts'
import { toShortId, toShortPath } from './short.ts'

const STYLES: Record<Finding['severity'], Style> = { error: 'error', warning: 'warning', note: 'dim' }

const INDENT = ' '.repeat(11)

/** `throughline check` */
export async function check(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const isJson = values.flag('json')
  if (values.flag('finish')) {
    const { finishAll } = await import('./check-finish.ts')
    return await finishAll(values.arg, { isJson, console })
  }
  const one = values.arg === undefined ? undefined : await findToRead(throughline, values.arg, console)
  const { sessions, problems } =
    one === undefined ? await throughline.list() : { sessions: [one], problems: [] }
  const count = { error: 0, warning: 0, note: 0 }
  let fine = 0
  let done = 0
  const reports: CheckReport[] = []
  for (const session of sessions) {
    const report = await throughline.check(session)
    console.progress(++done, sessions.length, 'sessions checked')
    for (const { severity } of report.findings) count[severity]++
    if (isJson) {
      reports.push(report)
      continue
    }
    // Notes are for those who ask about one session; a thousand of them would hide the errors.
    const shown =
      one === undefined ? report.findings.filter(({ severity }) => severity !== 'note') : report.findings
    if (shown.length === 0) fine++
    else await console.out.write(toGroup(report, shown, console))
  }
  // Of one session the question is about that one.
  const notices = one === undefined ? await findNotices(throughline, problems) : []
  count.warning += notices.length
  if (isJson) {
    const plain = reports.map(({ session, findings }) => ({ id: session.id, path: session.path, findings }))
    await console.out.write(toJsonLine({ sessions: plain, problems, notices, ...count }))
  } else {
    const said = problems.map(({ path, message, hint }) => ({
      message: `${toShortPath(path, console.home)}: ${message}`,
      hint,
    }))
    for (const { message, hint } of [...said, ...notices]) {
      await console.out.write(
        `${console.paint('warning', 'warning')}  ${safeLine(message)}\n         → ${safeLine(hint)}\n\n`,
      )
    }
    await console.out.write(toSummary({ checked: sessions.length, fine, ...count }, console))
  }
  return count.error > 0 ? 1 : 0
}

/** What is wrong here beside the sessions: our own files among it. */
async function findNotices(
  throughline: Throughline,
  problems: readonly Problem[],
): Promise<readonly Pick<Notice, 'message' | 'hint'>[]> {
  const told = new Set(problems.map(({ path, message }) => `${path}: ${message}`))
  const { notices } = await throughline.health()
  return notices.filter(({ message }) => !told.has(message)).map(({ message, hint }) => ({ message, hint }))
}

function toGroup(report: CheckReport, findings: readonly Finding[], console: Console): string {
  const { paint, home } = console
  const width = Math.min(console.width, 110)
  const { session } = report
  const name = safeLine((session.name ?? '').slice(0, 200))
  const head = `${paint('code', toShortId(session.id))}  ${paint('strong', name === '' ? '–' : name)}`
  const lines = findings.flatMap((finding) => {
    const { severity, code, message, hint, offset } = finding
    const place = offset === undefined ? '' : ` at byte ${toCount(offset)}`
    const what = `${safeLine(message)} (${safeLine(code)})${place}`
    const label = `  ${paint(STYLES[severity], severity.padEnd(7))}  `
    const text = [
      ...wrapText(what, width - INDENT.length),
      ...wrapText(`→ ${safeLine(hint)}`, width - INDENT.length),
    ]
    const elsewhere = finding.path === session.path ? [] : [paint('dim', toShortPath(finding.path, home))]
    return [...text, ...elsewhere].map((line, at) => `${at === 0 ? label : INDENT}${line}`)
  })
  return `${[head, paint('dim', `          ${toShortPath(session.path, home)}`), ...lines].join('\n')}\n\n`
}

function toSummary(
  count: {
    readonly checked: number
    readonly fine: number
    readonly error: number
    readonly warning: number
    readonly note: number
  },
  console: Console,
): string {
  const parts = [
    `${toPlural(count.checked, 'session')} checked`,
    toPlural(count.error, 'error'),
    toPlural(count.warning, 'warning'),
    toPlural(count.note, 'note'),
  ]
  return `${console.paint(count.error > 0 ? 'error' : 'strong', parts.join(', '))}\n`
}
