import { textOf, type SessionSummary } from '#model'
import { toCount, toPlural, toShortCount, toSize, toSpan, toTokens } from './figures.ts'
import { toHtmlText } from './html-escape.ts'
import { passageToHtml } from './html-message.ts'
import { STYLE, STYLE_HASH } from './html-style.ts'
import { safeLine } from './safe-text.ts'
import { branchOf, sessionKind, sessionName, type Transcript } from './transcript.ts'

/** What the page may do: show its own style sheet and images it carries itself. No script, no request, no frame. */
const POLICY = `default-src 'none'; style-src '${STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'`

/** The outline of a session of a million prompts would be a page of its own. */
const LONGEST_OUTLINE = 1000

/**
 * A session as one HTML file that needs nothing else: no script, no font, no network. Comes in pieces; the outline
 * of the prompts comes last and stands first on a wide screen, so nothing has to be read twice.
 */
export async function* toHtml(transcript: Transcript): AsyncGenerator<string> {
  const { session } = transcript
  yield head(session)
  const outline: string[] = []
  let prompts = 0
  let replies = 0
  let calls = 0
  let damage = 0
  let asides = 0
  for await (const batch of transcript.passages) {
    for (const passage of batch) {
      if (passage.kind === 'reply') {
        replies++
        calls += passage.calls.length
      }
      if (passage.kind === 'damage') damage++
      if (passage.kind === 'aside') asides += passage.entries.length
      if (passage.kind === 'prompt') {
        prompts++
        if (outline.length < LONGEST_OUTLINE && passage.origin !== 'system') {
          const words = safeLine(textOf(passage.blocks).slice(0, 400)).slice(0, 120)
          outline.push(
            `<li><a href="#prompt-${prompts}">${toHtmlText(words === '' ? `#${prompts}` : words)}</a></li>\n`,
          )
        }
      }
      const place = passage.kind === 'prompt' ? { prompt: prompts } : {}
      yield* passageToHtml(passage, { transcript, depth: 0, ...place })
    }
  }
  yield '</main>\n'
  if (outline.length > 1) {
    yield `<nav class="outline" aria-labelledby="outline"><h2 id="outline">Prompts</h2><ol>\n${outline.join('')}</ol></nav>\n`
  }
  const counts = [toPlural(prompts, 'prompt'), toPlural(replies, 'reply'), toPlural(calls, 'tool call')]
  if (damage > 0) counts.push(`${toPlural(damage, 'place')} that could not be read`)
  if (asides > 0) counts.push(`${toPlural(asides, 'line')} around the conversation not shown`)
  yield `<footer><p>${counts.join(' · ')}. Times are UTC. Exported by Throughline.</p></footer>\n</div>\n</body>\n</html>\n`
}

function head(session: SessionSummary): string {
  const name = toHtmlText(sessionName(session))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${name}</title>
<style>${STYLE}</style>
</head>
<body>
<div class="page">
<header class="session">
<p class="kind">${toHtmlText(sessionKind(session))}</p>
<h1 dir="auto">${name}</h1>
<dl>
${factsOf(session)
  .map(([term, html]) => `<dt>${term}</dt><dd>${html}</dd>`)
  .join('\n')}
</dl>
</header>
<main>
`
}

function factsOf(session: SessionSummary): readonly (readonly [term: string, html: string])[] {
  const { createdAt, lastActivityAt, facts } = session
  const gitBranch = branchOf(session)
  const out: (readonly [string, string])[] = []
  const [workdir, ...others] = session.workdirs
  if (workdir !== undefined) {
    const more = others.length === 0 ? '' : ` and ${toPlural(others.length, 'other')}`
    const branch = gitBranch === undefined ? '' : ` on ${code(gitBranch)}`
    out.push(['Workdir', code(workdir) + more + branch])
  }
  const when = toSpan(createdAt, lastActivityAt)
  if (when !== '') out.push(['When', toHtmlText(when)])
  if (facts !== undefined && facts.models.length > 0) out.push(['Model', facts.models.map(code).join(', ')])
  if (facts !== undefined) {
    const { usage } = facts
    const cached = toShortCount(usage.cacheRead + usage.cacheCreation)
    const parts = `${toShortCount(usage.input)} in, ${toShortCount(usage.output)} out, ${cached} cached`
    out.push(['Tokens', `${toCount(toTokens(usage))} (${parts})`])
  }
  out.push(['Session', `${code(session.id)}, ${toSize(session.size).replace(' ', '&nbsp;')}`])
  return out
}

function code(text: string): string {
  return `<code>${toHtmlText(safeLine(text))}</code>`
}
