import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { takeAppPictures } from './app-pictures.mjs'
import { provideChromium } from './chromium.mjs'

/**
 * `npm run pictures`: takes the pictures of the README and the guide, as commands and app show things today.
 * `npm run pictures -- memory`: only those of the app whose names begin so.
 */
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const images = join(root, 'docs/images')
const folder = mkdtempSync(join(tmpdir(), 'throughline-pictures-'))
const SESSION = '7d0c1f3e'
const FLAGS =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

/** The colours of the terminal. */
const COLOURS = { 31: '#f2938b', 32: '#7fd09b', 33: '#e3bb66', 34: '#8ab0f5', 35: '#c9a7f0', 36: '#7fc8d0' }

const executablePath = provideChromium((line) => console.log(line))
if (executablePath === undefined) process.exit(1)
const browser = await chromium.launch({ executablePath, args: FLAGS.split(' ') })
try {
  const [, , only] = process.argv
  if (only === undefined) await takePages()
  await takeAppPictures({ root, browser, images, only })
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}

async function takePages() {
  const page = join(folder, 'session.html')
  throughline(['export', SESSION, '--out', page])
  const open = ['details.fold:has-text("Edit")']
  await picture(page, 'export.png', { width: 1200, height: 1380, open })
  await picture(page, 'export-dark.png', { width: 1200, height: 1380, scheme: 'dark', open })
  await picture(page, 'export-phone.png', { width: 390, height: 844 })

  const terminal = join(folder, 'show.html')
  const shown = throughline(['show', SESSION], { FORCE_COLOR: '1', COLUMNS: '102' })
  writeFileSync(terminal, terminalPage(`\u001b[2m$\u001b[22m throughline show ${SESSION}\n${shown}`))
  await picture(terminal, 'show.png', { width: 940, height: 100, whole: true })
}

function throughline(args, env = {}) {
  return execFileSync(process.execPath, [join(root, 'dist/bin/throughline.js'), ...args], {
    encoding: 'utf8',
    env: { ...process.env, CLAUDE_CONFIG_DIR: join(root, 'test/fixtures/demo/config'), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function picture(file, name, { width, height, scheme = 'light', open = [], whole = false }) {
  const page = await browser.newPage({
    viewport: { width, height },
    colorScheme: scheme,
    deviceScaleFactor: 1.5,
  })
  await page.goto(pathToFileURL(file).href)
  for (const selector of open) {
    const found = page.locator(selector)
    if ((await found.count()) > 0) await found.first().evaluate((element) => element.setAttribute('open', ''))
  }
  await page.screenshot({ path: join(images, name), fullPage: whole })
  console.log(`docs/images/${name}`)
  await page.close()
}

/** Colour sequences as a page, in a quiet window. */
function terminalPage(text) {
  const style = { weight: '', opacity: '', slant: '', line: '', colour: '' }
  let html = ''
  // oxlint-disable-next-line no-control-regex -- the escape character is what it looks for
  for (const part of text.split(/(\u001b\[[\d;]*m)/)) {
    if (part.startsWith('\u001b')) for (const code of part.slice(2, -1).split(';')) apply(style, Number(code))
    else if (part !== '') html += `<span style="${Object.values(style).join('')}">${escaped(part)}</span>`
  }
  return `<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 28px; background: #e9e7e2 }
main { background: #17171a; border-radius: 10px; box-shadow: 0 12px 40px #0004; overflow: hidden }
header { height: 38px; background: #1f1f23; position: relative }
header i { position: absolute; left: 16px; top: 13px; width: 11px; height: 11px; border-radius: 9px;
  background: #45454b; box-shadow: 18px 0 #45454b, 36px 0 #45454b }
pre { margin: 0; padding: 18px 22px 22px; color: #e4e2de; font: 13.5px/1.5 "DejaVu Sans Mono", monospace }
</style><main><header><i></i></header><pre>${html}</pre></main>`
}

function apply(style, code) {
  if (code === 1) style.weight = 'font-weight:700;'
  else if (code === 2) style.opacity = 'opacity:.55;'
  else if (code === 3) style.slant = 'font-style:italic;'
  else if (code === 4) style.line = 'text-decoration:underline;'
  else if (code === 22) style.weight = style.opacity = ''
  else if (code === 23) style.slant = ''
  else if (code === 24) style.line = ''
  else if (code === 39) style.colour = ''
  else if (code === 0) for (const key of Object.keys(style)) style[key] = ''
  else if (COLOURS[code] !== undefined) style.colour = `color:${COLOURS[code]};`
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
