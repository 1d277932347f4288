import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { list, number, object, string } from '#base'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  CHROMIUM,
  launchBrowser,
  openAppDaemon,
  openTab,
  type AppDaemon,
  type AppTab,
} from './app-browser.ts'

/** Of the samples: one that was compacted, one that was rewound, one that is damaged. */
const COMPACTED = 'de300006-5a1e-4c0d-9f00-7ead1e5a0006'
const FORECAST = 'de300001-5a1e-4c0d-9f00-7ead1e5a0001'
const DAMAGED = 'de300003-5a1e-4c0d-9f00-7ead1e5a0003'
const COLOURED = 'de300004-5a1e-4c0d-9f00-7ead1e5a0004'
const SKETCHED = 'de300007-5a1e-4c0d-9f00-7ead1e5a0007'

describe.skipIf(!existsSync(CHROMIUM))('the places of the app, from the first visit on', () => {
  let browser: Browser
  let daemon: AppDaemon
  let tab: AppTab
  beforeAll(async () => {
    browser = await launchBrowser()
    daemon = await openAppDaemon((claudeDir) => {
      mkdirSync(join(claudeDir, 'projects'), { recursive: true })
      mkdirSync(join(claudeDir, 'sessions'), { recursive: true })
    })
    tab = await openTab(browser, daemon)
  })
  afterAll(async () => {
    await tab?.close()
    await browser?.close()
    await daemon?.close()
  })

  const main = (): Promise<string> => tab.page.locator('main').innerText()

  test('[WEB53] [DEMO1] a first visit says where it looks and offers samples, which come and go', async () => {
    await tab.page.getByText('No sessions yet').first().waitFor()
    // The sidebar says it before the page is there.
    await expect.poll(main).toContain(join(daemon.claudeDir, 'projects'))
    await tab.page.getByRole('button', { name: 'Show me a demo' }).click()
    await tab.page.getByText('These are samples').waitFor()
    await tab.page.locator('.session-link').nth(5).waitFor()
    await tab.page.getByRole('button', { name: 'Remove them' }).click()
    await tab.page.getByRole('button', { name: 'Show me a demo' }).waitFor()
    await tab.page.getByRole('button', { name: 'Show me a demo' }).click()
    await tab.page.locator('.session-link').nth(5).waitFor()
  })

  test('[WEB17] the outline leads to prompts and compactions, and a date to its day', async () => {
    await tab.go(`#session=${COMPACTED}`)
    await tab.page.locator('.outline-point').first().waitFor()
    const digest = await daemon.ask(`/api/sessions/${COMPACTED}/digest`)
    const outline = list(digest, 'outline')
    expect(await tab.page.locator('.outline-point').count()).toBe(outline.length)
    await tab.page.locator('.outline-point.at-compaction').waitFor()
    const first = outline.find((point) => string(point, 'kind') === 'prompt')
    await tab.page.locator('.outline-point.at-prompt').first().click()
    await tab.page.waitForFunction((id) => location.hash.includes(`entry=${id}`), string(first, 'id'))
    const inSight = (id: string): Promise<unknown> =>
      tab.page.waitForFunction((key) => {
        const { top = -1 } = document.querySelector(`[data-key="${key}"]`)?.getBoundingClientRect() ?? {}
        return top > 0 && top < innerHeight
      }, id)
    await inSight(string(first, 'id') ?? '')
    await tab.page.locator('.outline input[type="date"]').fill((string(first, 'at') ?? '').slice(0, 10))
    await inSight(string(first, 'id') ?? '')
  })

  test('[WEB18] behind each turn stand its tokens, its calls, its time and how full the window was', async () => {
    await tab.go(`#session=${FORECAST}`)
    await tab.page.locator('.turn-end').first().waitFor()
    const words = await tab.page.locator('.turn-end').last().innerText()
    expect(words).toMatch(/tokens[\s\S]*call[\s\S]*\d+ s[\s\S]*%/)
    const turns = number(object(await daemon.ask(`/api/sessions/${FORECAST}/digest`), 'facts'), 'turns')
    expect(await tab.page.locator('.turn-end').count()).toBe(turns)
  })

  test('[WEB30] [B2.1] calls that follow one another stand together, failures stay visible, and what was said between them stays', async () => {
    await tab.go(`#session=${FORECAST}`)
    await tab.page.locator('.turn-end').first().waitFor()
    await tab.page.keyboard.press('e')
    await tab.page.waitForTimeout(200)
    const page: unknown = await daemon.ask(`/api/sessions/${FORECAST}/entries?limit=500&raw=0`)
    const said = list(page, 'readings').flatMap((reading) => {
      const entry = object(reading, 'entry')
      if (string(entry, 'kind') !== 'reply') return []
      return list(entry, 'blocks').flatMap((block) =>
        string(block, 'kind') === 'text' ? [string(block, 'text') ?? ''] : [],
      )
    })
    const shown = await tab.page.locator('.conversation').evaluate((box) => box.textContent ?? '')
    for (const text of said) expect(shown).toContain((/[A-Za-z]{4,}(?: [a-z]{2,})*/.exec(text) ?? [''])[0])
    expect(said.length).toBeGreaterThan(3)
    expect(await tab.page.locator('.conversation').innerText()).toMatch(/exit 1|failed/)
  })

  test('[WEB29] [WEB26] a picture is shown from its own bytes, and code in its colours', async () => {
    await tab.go(`#session=${SKETCHED}`)
    const image = tab.page.locator('.conversation img').first()
    await image.waitFor()
    const shown = await image.evaluate((node) =>
      node instanceof HTMLImageElement
        ? { source: node.src.slice(0, 5), width: node.naturalWidth }
        : undefined,
    )
    expect(shown).toMatchObject({ source: 'blob:' })
    expect(shown?.width).toBeGreaterThan(0)
    await tab.go(`#session=${COLOURED}`)
    await tab.page.locator('.conversation pre span[class]').first().waitFor()
    expect(await tab.page.locator('.conversation table').count()).toBeGreaterThan(0)
  })

  test('[WEB33] what is copied is what is shown: code, words, and the address of a place', async () => {
    await tab.page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await tab.go(`#session=${COLOURED}`)
    const block = tab.page
      .locator('.conversation figure, .conversation .code-block')
      .filter({ hasText: 'sqlite3 notes.db' })
    await block.getByRole('button', { name: /Copy/ }).first().click()
    await tab.page.getByText(/copied/).waitFor()
    const pasted = await tab.page.evaluate('navigator.clipboard.readText()')
    expect(String(pasted)).toContain('sqlite3 notes.db')
    const link = tab.page.getByRole('link', { name: 'Copy link' }).first()
    const href = (await link.getAttribute('href')) ?? ''
    expect(href).toMatch(/^#session=de300004-.*&entry=/)
    const before = tab.page.url()
    await link.focus()
    await tab.page.keyboard.press('Enter')
    await tab.page.getByText(/^Link copied/).waitFor()
    expect(await tab.page.evaluate('navigator.clipboard.readText()')).toBe(new URL(href, before).href)
    expect(tab.page.url()).toBe(before)
  })

  test('[WEB33] a link that the browser does not let one copy is in the address bar, and the page says so', async () => {
    await tab.go(`#session=${COLOURED}`)
    await tab.page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))
      document.execCommand = () => false
    })
    const link = tab.page.getByRole('link', { name: 'Copy link' }).first()
    const href = (await link.getAttribute('href')) ?? ''
    await link.focus()
    await tab.page.keyboard.press('Enter')
    await tab.page.getByText('The link is in the address bar.').waitFor()
    expect(new URL(tab.page.url()).hash).toBe(href)
  })

  test('[WEB46] facts are those of the daemon: counts, files, commands, damage with its next step, exports', async () => {
    await tab.go(`#session=${DAMAGED}&show=facts`)
    await tab.page.getByText('How much there is').waitFor()
    await tab.page.locator('.findings li').first().waitFor()
    const digest = await daemon.ask(`/api/sessions/${DAMAGED}/digest`)
    const words = await main()
    for (const file of list(digest, 'files').slice(0, 3))
      expect(words).toContain(string(file, 'path')?.split('/').at(-1))
    for (const command of list(digest, 'commands').slice(0, 3))
      expect(words).toContain(string(command, 'command')?.slice(0, 20))
    const findings = list(await daemon.ask(`/api/sessions/${DAMAGED}/check`), 'findings')
    expect(findings.length).toBeGreaterThan(0)
    for (const finding of findings) expect(words).toContain(string(finding, 'hint')?.slice(0, 30))
    const [download] = await Promise.all([
      tab.page.waitForEvent('download'),
      tab.page.getByRole('button', { name: 'Original' }).click(),
    ])
    const saved = readFileSync(await download.path())
    expect(
      saved.equals(readFileSync(string(await daemon.ask(`/api/sessions/${DAMAGED}`), 'path') ?? '')),
    ).toBe(true)
  })

  test('[WEB43] usage shows what the daemon counted, by day, model, folder and session', async () => {
    await tab.go('#usage')
    await tab.page.getByText('By model').waitFor()
    const report = await daemon.ask('/api/usage?by=model')
    const words = await main()
    for (const row of list(report, 'rows')) expect(words).toContain(string(row, 'key'))
    expect(words).toContain('Saved by caching')
    expect(words).toContain('Taken out by compaction')
    await tab.page.getByRole('grid', { name: 'Messages per day' }).waitFor()
  })

  test('[WEB3] who waits for you is in the list, in the title and on the icon, within moments', async () => {
    const agent = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 120_000)'])
    onTestFinished(() => {
      agent.kill('SIGKILL')
    })
    const pid = agent.pid ?? 0
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const procStart = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    const file = join(daemon.claudeDir, 'sessions', `${pid}.json`)
    const id = 'cccccccc-0000-4000-8000-000000000009'
    const folder = join(daemon.claudeDir, 'projects', '-home-user-work')
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      join(folder, `${id}.jsonl`),
      `${JSON.stringify({ type: 'user', uuid: 'u1', parentUuid: null, sessionId: id, cwd: '/home/user/work', timestamp: new Date().toISOString(), message: { role: 'user', content: 'may I?' }, promptSource: 'typed' })}\n`,
    )
    const say = (status: string, waitingFor?: string): void =>
      writeFileSync(
        file,
        JSON.stringify({
          pid,
          sessionId: id,
          procStart,
          status,
          waitingFor,
          updatedAt: Date.now(),
          statusUpdatedAt: Date.now(),
        }),
      )
    say('waiting', 'permission prompt')
    await tab.page.waitForFunction(() => document.title.startsWith('(1)'))
    expect(await tab.page.locator('#icon').getAttribute('href')).toContain('waiting')
    await tab.page.locator('.session-row .badge.waiting').waitFor()
    say('busy')
    await tab.page.waitForFunction(() => document.title === 'Throughline')
    await tab.page.locator('.session-row .badge.busy').waitFor()
    rmSync(file)
  })

  test('[WEB4] the beginning of an id that several sessions have asks which one is meant', async () => {
    const before = tab.trouble.length
    await tab.go('#session=de3000')
    await tab.page.getByText('Which session is meant?').waitFor()
    await expect.poll(main).toContain('de300001')
    await tab.go(`#session=${FORECAST.slice(0, 8)}`)
    await tab.page.locator('.conversation-row').first().waitFor()
    // The browser itself writes down that the daemon refused.
    tab.trouble.splice(before)
  })

  test('[WEB19] the app can be installed: a manifest, icons, and a page that needs nobody else', async () => {
    const manifest: unknown = await (await fetch(`${daemon.url}/manifest.webmanifest`)).json()
    expect(string(manifest, 'display')).toBe('standalone')
    const icons = list(manifest, 'icons').map((icon) => string(icon, 'src') ?? '')
    expect(icons.length).toBeGreaterThan(2)
    for (const icon of icons) expect((await fetch(`${daemon.url}${icon}`)).status).toBe(200)
    const client = await tab.page.context().newCDPSession(tab.page)
    const { installabilityErrors } = await client.send('Page.getInstallabilityErrors')
    expect(
      installabilityErrors.map(({ errorId }) => errorId).filter((error) => error !== 'in-incognito'),
    ).toEqual([])
  })

  test('[WEB16] the list is asked for before the app is there', async () => {
    await tab.go('#')
    const asked: string[] = []
    tab.page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    // The script does not come before the list was asked for.
    await tab.page.route('**/assets/index-*.js', async (route) => {
      for (let n = 0; n < 200 && !asked.includes('/api/sessions'); n++) await sleep(10)
      asked.push('the script came')
      await route.continue()
    })
    await tab.page.reload()
    await tab.page.locator('.session-link').first().waitFor()
    await tab.page.unroute('**/assets/index-*.js')
    expect(asked.indexOf('/api/sessions')).toBeLessThan(asked.indexOf('the script came'))
    expect(asked.indexOf('/api/sessions')).toBeGreaterThan(0)
  })

  test('[WEB7] a link that was used already says so, with the next step', async () => {
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(`${daemon.url}/#code=used-already`)
    await page.getByText('That link was used already').waitFor()
    expect(await page.locator('pre').innerText()).toBe('throughline open')
    expect(page.url()).not.toContain('used-already')
    await page.reload()
    await page.getByText('This browser is not logged in').waitFor()
  })

  test('[WEB11] nothing in all this failed, and nobody else was asked for anything', () => {
    expect(tab.trouble).toEqual([])
  })
})
