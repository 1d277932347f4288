/**
 * The looks of an exported page. The page's Content-Security-Policy allows this style sheet by its hash and no
 * other, so text that slips through as a tag could not even be coloured. A test keeps the two together.
 */
export const STYLE_HASH = 'sha256-FcjS8dm6ZtZq245tObdRqSqRVQKwdoXBHu/tf3l928M='

export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf8; --ink: #22211f; --quiet: #5c5953; --faint: #757169; --line: #e6e3dd; --wash: #f3f1ec;
  --person: #2b5fc2; --person-wash: #eef3fc; --accent: #8a5a14; --code: #f4f2ee;
  --bad: #b3261e; --bad-wash: #fdf0ee; --warn: #8a5a00; --warn-wash: #fdf6e3;
  --added: #146c37; --added-wash: #e8f5ec; --removed: #a3241c; --removed-wash: #fcecea;
  --sans: ui-sans-serif, -apple-system, BlinkMacSystemFont, "Segoe UI", Inter, Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #17171a; --ink: #e4e2de; --quiet: #aeaba4; --faint: #8b8881; --line: #2d2d31; --wash: #1f1f23;
    --person: #8ab0f5; --person-wash: #1b2334; --accent: #d9ac63; --code: #1f1f23;
    --bad: #f2938b; --bad-wash: #331c1b; --warn: #e3bb66; --warn-wash: #2d2617;
    --added: #7fd09b; --added-wash: #16281d; --removed: #f0a099; --removed-wash: #331d1c;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.65 var(--sans); overflow-wrap: break-word; }
a { color: var(--person); text-decoration-thickness: 1px; text-underline-offset: .18em; }
:focus-visible { outline: 2px solid var(--person); outline-offset: 2px; border-radius: 3px; }
h1, h2, h3, h4, h5, h6 { line-height: 1.3; text-wrap: balance; }
.page { display: grid; grid-template-columns: minmax(0, 1fr); max-width: 46rem; margin: 0 auto; padding: 0 1.25rem 4rem; }

.session { padding: 3.5rem 0 1.75rem; border-bottom: 1px solid var(--line); margin-bottom: 2.25rem; }
.session .kind { margin: 0; color: var(--faint); font-size: .75rem; letter-spacing: .09em; text-transform: uppercase; }
.session h1 { margin: .35rem 0 1.1rem; font-size: 1.75rem; letter-spacing: -.015em; font-weight: 650; }
.session dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1.25rem; margin: 0; font-size: .8125rem; }
.session dt { color: var(--faint); }
.session dd { margin: 0; color: var(--quiet); font-variant-numeric: tabular-nums; }
.session dd code { background: none; padding: 0; font-size: .95em; overflow-wrap: anywhere; }

.who { display: flex; align-items: baseline; gap: .6rem; margin: 0 0 .3rem; font-size: .8125rem; line-height: 1.4; }
.who b { font-weight: 650; }
.who time, .who span, .who a { color: var(--faint); font-weight: 400; font-variant-numeric: tabular-nums; text-decoration: none; }
.who a { margin-left: auto; }
.who a:hover { color: var(--person); }
.prompt { margin: 2.75rem 0 1.5rem; padding: .85rem 1.1rem .95rem; background: var(--person-wash); border-left: 3px solid var(--person); border-radius: 2px 8px 8px 2px; }
.prompt:first-child { margin-top: 0; }
.prompt > .who b { color: var(--person); }
.prompt.system { background: var(--wash); border-left-color: var(--faint); }
.prompt.system > .who b { color: var(--quiet); }
.words { white-space: pre-wrap; }
.words code { font-size: .9em; }
.reply { margin: 1.5rem 0; }
.reply > .who b { color: var(--accent); }
.reply + .reply > .who { display: none; }
.reply + .reply { margin-top: -.45rem; }
.reply + .reply:has(> .who + .fold) { margin-top: -1.1rem; }
.api-error { color: var(--bad); }
.synthetic { color: var(--quiet); }

.prose > :first-child { margin-top: 0; }
.prose > :last-child { margin-bottom: 0; }
.prose p, .prose ul, .prose ol, .prose blockquote, .prose pre, .prose .table { margin: .85rem 0; }
.prose + .fold, .fold + .prose, .prose + .prose { margin-top: .85rem; }
.prose h3 { font-size: 1.2rem; margin: 1.6rem 0 .5rem; }
.prose h4 { font-size: 1.05rem; margin: 1.4rem 0 .4rem; }
.prose h5, .prose h6 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
.prose ul, .prose ol { padding-left: 1.4rem; }
.prose li { margin: .2rem 0; }
.prose li::marker { color: var(--faint); }
.prose blockquote { padding-left: 1rem; border-left: 2px solid var(--line); color: var(--quiet); }
.prose hr { border: 0; border-top: 1px solid var(--line); margin: 1.75rem 0; }
code { font-family: var(--mono); font-size: .86em; background: var(--code); padding: .12em .35em; border-radius: 4px; }
pre { margin: 0; font: .8125rem/1.55 var(--mono); tab-size: 4; overflow-x: auto; }
pre code { font: inherit; background: none; padding: 0; }
.prose pre[data-language]::before { content: attr(data-language); display: block; color: var(--quiet); font-size: .6875rem; }
.prose pre { padding: .8rem 1rem; background: var(--code); border: 1px solid var(--line); border-radius: 8px; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9375rem; }
th, td { padding: .35rem .9rem .35rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }

.fold { margin: .4rem 0; border: 1px solid var(--line); border-radius: 8px; font-size: .8125rem; overflow: hidden; }
.fold > summary { display: flex; gap: .55rem; align-items: baseline; padding: .4rem .75rem; cursor: pointer; list-style: none; font-family: var(--mono); line-height: 1.5; color: var(--quiet); }
.fold > summary::-webkit-details-marker { display: none; }
.fold > summary::before { content: ""; flex: none; width: .38rem; height: .38rem; border: solid var(--faint); border-width: 0 1.5px 1.5px 0; transform: rotate(-45deg) translate(-1px, -1px); }
.fold[open] > summary::before { transform: rotate(45deg) translate(-1px, -1px); }
.fold > summary:hover { background: var(--wash); }
.fold[open] > summary { border-bottom: 1px solid var(--line); background: var(--wash); }
.fold > summary b { flex: none; max-width: 60%; overflow-wrap: anywhere; color: var(--ink); font-weight: 600; }
.fold > summary .what { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.fold[open] > summary .what { white-space: normal; overflow-wrap: anywhere; }
.fold > summary .outcome { flex: none; font-family: var(--sans); font-size: .75rem; padding: 0 .5rem; border-radius: 99px; }
.done > summary .outcome { color: var(--person); background: var(--person-wash); max-width: 45%; }
.failed > summary .outcome { color: var(--bad); background: var(--bad-wash); }
.pending > summary .outcome, .refused > summary .outcome { color: var(--warn); background: var(--warn-wash); max-width: 45%; }
.fold .inside { padding: .7rem .9rem; }
.fold .inside > * + * { margin-top: .7rem; padding-top: .7rem; border-top: 1px dashed var(--line); }
.fold pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 32rem; overflow-y: auto; }
.fold pre.error { padding-left: .8rem; border-left: 2px solid var(--bad); }
.fold.quiet { border-color: transparent; margin-left: -.75rem; }
.fold.quiet > summary { font-family: var(--sans); font-style: italic; }
.fold.quiet[open] { border-color: var(--line); margin-left: 0; }
.thought { white-space: pre-wrap; color: var(--quiet); font-size: .875rem; }
pre.diff { padding: 0; }
pre.diff span { display: block; padding: 0 .5rem; }
.added { color: var(--added); background: var(--added-wash); }
.removed { color: var(--removed); background: var(--removed-wash); }
.same { color: var(--quiet); }
.subagent { padding-left: 1rem; border-left: 2px solid var(--line); font-size: .9375rem; line-height: 1.6; }
.fold .inside > .subagent { padding-top: 0; border-top: 0; }
.subagent .prompt { margin: 1.25rem 0 1rem; }
.subagent > :first-child { margin-top: 0; }
.subagent > :last-child { margin-bottom: 0; }
img { display: block; max-width: 100%; max-height: 30rem; margin: .6rem 0; border: 1px solid var(--line); border-radius: 8px; }
.thing { display: inline-block; margin: .4rem 0; padding: .3rem .7rem; border: 1px dashed var(--faint); border-radius: 8px; color: var(--quiet); font-size: .8125rem; }

.command { margin: 1.5rem 0; font: .8125rem/1.55 var(--mono); color: var(--quiet); }
.command b { color: var(--person); font-weight: 600; }
.command pre { margin-top: .35rem; padding-left: 1rem; border-left: 2px solid var(--line); white-space: pre-wrap; overflow-wrap: anywhere; max-height: 20rem; }
.notice { margin: .75rem 0; font-size: .8125rem; color: var(--faint); white-space: pre-wrap; }
.notice.loud { color: var(--warn); }
.damage { margin: 1.25rem 0; padding: .55rem .9rem; border-left: 3px solid var(--warn); background: var(--warn-wash); color: var(--warn); font-size: .8125rem; border-radius: 2px 8px 8px 2px; }
.divider { margin: 2.75rem 0; }
.divider > .label { display: flex; align-items: center; gap: 1rem; margin: 0; color: var(--faint); font-size: .8125rem; }
.divider > .label::before, .divider > .label::after { content: ""; flex: 1; border-top: 1px solid var(--line); }
.divider > .fold { margin-top: .5rem; }
.off-path { opacity: .75; border-left: 2px dotted var(--faint); padding-left: 1rem; }
.off-path.prompt { background: none; }

.outline { margin-top: 3rem; padding-top: 1.5rem; border-top: 1px solid var(--line); font-size: .8125rem; line-height: 1.45; }
.outline h2 { margin: 0 0 .6rem; font-size: .75rem; letter-spacing: .09em; text-transform: uppercase; font-weight: 400; color: var(--faint); }
.outline ol { margin: 0; padding: .1rem 0; list-style: none; border-left: 2px solid var(--line); }
.outline li { padding: .26rem .8rem; }
.outline a { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; color: var(--quiet); text-decoration: none; }
.outline a:hover { color: var(--person); }
footer { margin-top: 3rem; padding-top: 1.25rem; border-top: 1px solid var(--line); color: var(--faint); font-size: .8125rem; }
footer p { margin: 0; }
@media (min-width: 70rem) {
  .page { grid-template-columns: 14rem minmax(0, 46rem); column-gap: 4rem; max-width: 68rem; }
  .session, main, footer { grid-column: 2; }
  .outline { grid-column: 1; grid-row: 1 / span 3; align-self: start; position: sticky; top: 0; max-height: 100vh; overflow-y: auto; margin: 0; padding: 3.6rem 0 2rem; border: 0; }
}
@media (max-width: 30rem) {
  .page { padding: 0 1rem 3rem; }
  .session { padding-top: 2rem; margin-bottom: 1.5rem; }
  .session h1 { font-size: 1.4rem; }
  .session dl { gap: .25rem .9rem; }
  .prompt { margin-left: -.4rem; margin-right: -.4rem; padding: .7rem .85rem .8rem; }
  .fold > summary { padding: .5rem .65rem; gap: .45rem; }
}
@media print {
  body { background: none; font-size: 10.5pt; }
  .page { display: block; max-width: none; padding: 0; }
  .outline { display: none; }
  .prompt, .fold, .damage { break-inside: avoid; }
  .fold pre { max-height: none; }
}
`
