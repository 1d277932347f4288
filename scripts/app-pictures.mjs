import { spawn } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { takeMemoryPictures } from './memory-pictures.mjs'

/** The samples, by what is worth looking at in them. */
const FORECAST = 'de300001-5a1e-4c0d-9f00-7ead1e5a0001'
const CACHES = 'de300004-5a1e-4c0d-9f00-7ead1e5a0004'
const FASTAPI = 'de300006-5a1e-4c0d-9f00-7ead1e5a0006'

/** Every screen of the app, and what is done on it before the picture is taken. */
const SCREENS = [
  { name: 'home', hash: '#' },
  { name: 'session', hash: `#session=${FORECAST}`, scroll: 0.05, unfold: 'summary:has-text("exit 1")' },
  { name: 'text', hash: `#session=${CACHES}`, scroll: 0 },
  { name: 'facts', hash: `#session=${FASTAPI}&show=facts` },
  { name: 'search', hash: '#search=test' },
  { name: 'usage', hash: '#usage' },
  { name: 'palette', hash: `#session=${CACHES}`, keys: ['Control+k'], type: 'clock' },
  { name: 'keys', hash: `#session=${CACHES}`, keys: ['?'] },
]

/** What the scripted agent is asked to do, and where. */
const LIVE = [
  ['clock', 'The clock test fails at midnight. Find out why and fix it.'],
  ['tide-table', 'Make the tide forecast cover the second harbour too.'],
  ['shop', 'Bring all dependencies up to date, one at a time.'],
  ['notes', 'Thank you, that was all.'],
]

const DEVICES = [
  { suffix: '', viewport: { width: 1280, height: 820 }, deviceScaleFactor: 1 },
  {
    suffix: '-phone',
    viewport: { width: 360, height: 740 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
  },
]

/** Pictures of the app over the sample sessions, light and dark, wide and on a phone. */
export async function takeAppPictures({ root, browser, images, only = '' }) {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-app-'))
  const home = join(folder, 'home')
  const claude = join(folder, 'claude')
  mkdirSync(join(claude, 'projects'), { recursive: true })
  const env = { ...process.env, HOME: folder, CLAUDE_CONFIG_DIR: claude, THROUGHLINE_HOME: home }
  const daemon = spawn(process.execPath, [join(root, 'dist/bin/throughline.js'), 'serve'], {
    env,
    stdio: 'ignore',
  })
  try {
    const { url, token } = await untilReady(home)
    await shoot({ name: 'first-visit', hash: '#' })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    await fetch(`${url}/api/demo`, { method: 'POST', headers, body: '{}' })
    await sleep(1500)
    for (const screen of SCREENS) await shoot(screen)
    const asking = await startLive()
    await shoot({ name: 'live', hash: `#session=${asking}` })
    await shoot({ name: 'board', hash: '#board' })
    await takeMemoryPictures({ folder, claude, tell, shoot })
    await endLive()

    async function tell(path, body = {}) {
      const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      return await answer.json().catch(() => ({}))
    }

    /** Sessions of the scripted agent that work, wait, and are done. Gives one that waits for a permission. */
    async function startLive() {
      const ids = []
      for (const [name, text] of LIVE) {
        const workdir = join(folder, 'work', name)
        mkdirSync(workdir, { recursive: true })
        const prompt = { id: randomUUID(), blocks: [{ kind: 'text', text }] }
        const { sessionId } = await tell('/api/sessions', { agent: 'scripted', workdir, prompt })
        ids.push(sessionId)
        await sleep(600)
      }
      await sleep(4000)
      const { attentions } = await (await fetch(`${url}/api/attentions`, { headers })).json()
      const first = attentions.find(({ sessionId }) => sessionId === ids[0])
      const resolution = { kind: 'allow', rules: [] }
      if (first) await tell(`/api/attentions/${first.id}/resolution`, { hash: first.hash, resolution })
      await sleep(3000)
      return ids[0]
    }

    async function endLive() {
      const { cards } = await (await fetch(`${url}/api/board`, { headers })).json()
      for (const { sessionId } of cards) await tell(`/api/sessions/${sessionId}/end`)
    }

    async function shoot(screen) {
      if (!screen.name.startsWith(only)) return
      for (const device of DEVICES) {
        for (const colorScheme of ['light', 'dark']) {
          const { suffix, ...options } = device
          const context = await browser.newContext({ ...options, colorScheme, reducedMotion: 'reduce' })
          await context.addInitScript((kept) => localStorage.setItem('throughline.token', kept), token)
          const page = await context.newPage()
          await page.goto(`${url}/${screen.hash}`)
          await page.waitForTimeout(1200)
          await act(page, screen)
          await page.mouse.move(2, options.viewport.height - 2)
          await page.evaluate(hidePlace, folder)
          await page.waitForTimeout(200)
          const name = `app-${screen.name}${suffix}${colorScheme === 'dark' ? '-dark' : ''}.png`
          await page.screenshot({ path: join(images, name) })
          console.log(`docs/images/${name}`)
          await context.close()
        }
      }
    }
  } finally {
    daemon.kill('SIGTERM')
    await sleep(500)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function act(page, { unfold, scroll, click, keys = [], type }) {
  if (click !== undefined) await page.locator(click).first().click({ force: true })
  if (unfold !== undefined) {
    const found = page.locator(`.conversation ${unfold}`)
    if ((await found.count()) > 0) await found.first().click()
  }
  if (scroll !== undefined) {
    await page.locator('.conversation').hover()
    await page.mouse.wheel(0, -1)
    await page.locator('.conversation').evaluate((box, part) => {
      box.scrollTop = part * (box.scrollHeight - box.clientHeight)
    }, scroll)
  }
  for (const key of keys) await page.keyboard.press(key)
  if (type !== undefined) {
    await page.waitForTimeout(400)
    await page.keyboard.type(type)
  }
  await page.waitForTimeout(500)
}

/** The pictures are of nobody's machine, and of what is there without anybody touching it. */
function hidePlace(folder) {
  if (document.activeElement?.closest('.conversation') !== null) document.activeElement.blur()
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.data.includes(folder)) {
      node.data = node.data
        .replaceAll(`${folder}/claude`, '/home/user/.claude')
        .replaceAll(`${folder}/home`, '/home/user/.throughline')
        .replaceAll(`${folder}/work`, '/home/user')
    }
  }
}

async function untilReady(home) {
  for (let n = 0; n < 200; n++) {
    await sleep(50)
    if (!existsSync(join(home, 'daemon.json'))) continue
    const { address } = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8'))
    const secret = readFileSync(join(home, 'secret'))
    return {
      url: address,
      token: createHmac('sha256', secret).update('throughline local v1').digest('base64url'),
    }
  }
  throw new Error('the daemon did not start')
}
