import type { FolderReport, Throughline } from '#wire'
import { exactLine, exactText, textsOfSettings, toPlural, toSize, warnOfHidden } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toShortPath } from './short.ts'
import type { Terminal } from './terminal.ts'

/**
 * What a folder would load is loaded only when a person has seen it and said yes: with `--trust`, at a terminal.
 * Otherwise it is said in one line that it is not.
 */
export async function considerTrust(
  throughline: Throughline,
  workdir: string,
  {
    values,
    console,
    terminal,
  }: { readonly values: Values; readonly console: Console; readonly terminal: Terminal | undefined },
): Promise<void> {
  const report = await throughline.live.folder(workdir)
  if (report.trust === 'trusted' || report.trust === 'nothing-to-load') return
  const files = toPlural(report.settings.files.length, 'file')
  if (values.flag('trust') && terminal !== undefined) {
    await console.out.write(toReportText(report, console))
    await console.out.flush()
    const answer = await terminal.ask('trust this folder as it is? y/n: ')
    if (/^\s*y(?:es)?\s*$/i.test(answer ?? '')) {
      await throughline.live.trust(report.workdir, { hash: report.settings.hash, trusted: true })
      return
    }
  }
  if (values.flag('json')) return
  const why = report.trust === 'changed' ? 'changed since it was trusted' : 'is not trusted'
  console.say(`note: the folder ${why}: its settings (${files}) are not loaded. See them with --trust.`)
}

/** Every name, path and command exactly as the agent would take it. */
function toReportText({ workdir, settings }: FolderReport, { paint, home }: Console): string {
  const mark = (number: string): string => paint('error', number)
  const warning = warnOfHidden(textsOfSettings(settings))
  const lines = [
    paint('strong', `What an agent would load in ${toShortPath(workdir, home, exactLine)}`),
    ...settings.effects.map(
      ({ kind, name, what, file }) =>
        `  ${paint('warning', kind)} ${exactLine(name)}  ${paint('dim', exactLine(file))}\n${exactText(what, mark).replaceAll(/^/gm, '      ')}`,
    ),
    paint('strong', 'Files'),
    ...settings.files.map(({ path, bytes, problem }) => {
      const trouble = problem === undefined ? '' : paint('warning', `  ${exactLine(problem)}`)
      return `  ${exactLine(path)}  ${paint('dim', toSize(bytes))}${trouble}`
    }),
    paint('dim', `hash ${settings.hash}`),
    ...(warning === undefined ? [] : [paint('error', `⚠ ${warning}`)]),
  ]
  return `${lines.join('\n')}\n`
}
