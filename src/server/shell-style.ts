/** How the first page looks, by day and by night. */
export const SHELL_STYLE = `
:root {
  --paper: #faf8f5; --card: #fff; --ink: #23201c; --soft: #6f675d; --line: #e6e0d8; --accent: #b4552d;
  --mark: #ffe7a8; --busy: #2f7d4f; --waiting: #b4552d; --idle: #8a8278;
  font: 16px/1.5 ui-sans-serif, system-ui, -apple-system, "Segoe UI", sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #171513; --card: #201d1a; --ink: #ece7e0; --soft: #a39a8e; --line: #35302b; --accent: #e58a5f;
    --mark: #5a4512; --busy: #6cc492; --waiting: #e58a5f; --idle: #8a8278;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--paper); color: var(--ink); }
header, main { max-width: 56rem; margin: 0 auto; padding: 0 1.25rem; }
header { display: flex; align-items: baseline; justify-content: space-between; gap: 1rem; padding-top: 1.5rem; }
h1 { display: flex; align-items: center; gap: .5rem; margin: 0; font-size: 1.15rem; letter-spacing: -.01em; }
h1 svg { width: 1.5rem; fill: none; stroke: var(--accent); stroke-width: 2; stroke-linecap: round; }
#status { margin: 0; color: var(--soft); font-size: .85rem; }
#status::before { content: ""; display: inline-block; width: .5rem; height: .5rem; margin-right: .45rem; border-radius: 50%; background: var(--idle); }
#status.on::before { background: var(--busy); }
#status:empty { display: none; }
.search { position: relative; margin-top: 1.25rem; }
.search label { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
input { width: 100%; padding: .7rem 2.75rem .7rem .95rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--card); color: inherit; font: inherit; }
input:focus-visible, a:focus-visible, li:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
kbd { position: absolute; right: .9rem; top: 50%; transform: translateY(-50%); padding: 0 .4rem; border: 1px solid var(--line); border-radius: .3rem; color: var(--soft); font: .8rem ui-monospace, monospace; }
input:focus ~ kbd { visibility: hidden; }
.summary { margin: 1rem .1rem .5rem; color: var(--soft); font-size: .85rem; }
ol { list-style: none; margin: 0 0 3rem; padding: 0; border: 1px solid var(--line); border-radius: .6rem; background: var(--card); overflow: hidden; }
ol:empty { display: none; }
ol:focus { outline: none; }
li { display: grid; grid-template-columns: 1fr auto; gap: .1rem 1rem; padding: .7rem .95rem; content-visibility: auto; contain-intrinsic-size: auto 3.9rem; }
li + li { border-top: 1px solid var(--line); }
li:focus-visible { outline-offset: -2px; border-radius: .5rem; }
.name { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 550; }
.star { color: var(--accent); margin-right: .3rem; }
.age { color: var(--soft); font-size: .85rem; font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
.where { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--soft); font-size: .85rem; direction: rtl; text-align: left; }
.where bdi { direction: ltr; }
.state { color: var(--idle); font-size: .85rem; text-align: right; white-space: nowrap; }
.state.busy { color: var(--busy); } .state.waiting { color: var(--waiting); font-weight: 600; }
.state.damaged, .state.unreadable, .state.gone { color: var(--waiting); }
.snippet { grid-column: 1 / -1; margin: .15rem 0 0; overflow-wrap: anywhere; font-size: .9rem; }
mark { background: var(--mark); color: inherit; border-radius: .15rem; padding: 0 .1em; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .5rem; }
#notice { max-width: 34rem; margin: 12vh auto; text-align: center; }
#notice h2 { font-size: 1.3rem; letter-spacing: -.01em; } #notice p { color: var(--soft); }
#notice pre { display: inline-block; padding: .6rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--card); }
@media (max-width: 34rem) { header { flex-direction: column; gap: .25rem; } kbd { display: none; } }
`
