import { existsSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { list, string } from '#base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHROMIUM, launchBrowser, openAppDaemon, openTab, type AppDaemon } from './app-browser.ts'
import { findAxeFaults } from './axe.ts'
import { PHONE, SCREENS, WIDE } from './screens.ts'

const root = join(import.meta.dirname, '..', '..')
const DEMO = join(root, 'test/fixtures/demo/config')

describe.skipIf(!existsSync(CHROMIUM))('for everybody', () => {
  let browser: Browser
  let daemon: AppDaemon
  let sessions: readonly { readonly id: string; readonly name: string }[] = []
  beforeAll(async () => {
    browser = await launchBrowser()
    daemon = await openAppDaemon((claudeDir) => cp(DEMO, claudeDir, { recursive: true }))
    const headers = { authorization: `Bearer ${daemon.token}` }
    await fetch(`${daemon.url}/api/demo`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{}',
    })
    sessions = list(await daemon.ask('/api/sessions'), 'sessions').map((one) => ({
      id: string(one, 'id') ?? '',
      name: string(one, 'name') ?? '',
    }))
  })
  afterAll(async () => {
    await browser?.close()
    await daemon?.close()
  })

  test.each(SCREENS)('[WEB13] axe finds nothing serious on any screen: %s', async (_name, options) => {
    const tab = await openTab(browser, daemon, { ...options, bypassCSP: true, reducedMotion: 'reduce' })
    const { page } = tab
    const found: string[] = []
    const look = async (screen: string): Promise<void> => {
      await page.waitForTimeout(700)
      found.push(...(await findAxeFaults(tab.page)).map((line) => `${screen}: ${line}`))
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1)
      if (isWide) found.push(`${screen}: wider than the screen`)
    }
    await look('start page')
    for (const { id, name } of sessions) {
      await tab.go(`#session=${id}`)
      await page.waitForSelector('.conversation-row')
      await page.evaluate(() => {
        for (const one of document.querySelectorAll('details')) one.open = true
      })
      await look(`session ${name}`)
    }
    await tab.go(`#session=${sessions[0]?.id ?? ''}&show=facts`)
    await look('facts')
    await tab.go('#search=test')
    await look('search')
    await tab.go('#usage')
    await look('usage')
    await page.keyboard.press('Control+k')
    await look('palette')
    await page.keyboard.press('Escape')
    await page.evaluate(() =>
      document.activeElement instanceof HTMLElement ? document.activeElement.blur() : undefined,
    )
    await page.keyboard.press('?')
    await look('keys')
    expect(found).toEqual([])
    await tab.close()
  })

  test('[WEB14] everything is reached by keyboard alone', async () => {
    const tab = await openTab(browser, daemon, WIDE)
    const { page } = tab
    await page.waitForSelector('.session-link')
    const press = (...keys: readonly string[]): Promise<void> =>
      keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve())
    const place = (): string => new URL(page.url()).hash

    await press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Skip to the content')
    await press('s')
    await page.waitForFunction(() => document.activeElement?.id === 'filter')
    await page.keyboard.type('flaky')
    await press('ArrowDown', 'Enter')
    await page.waitForSelector('.conversation-row')
    expect(place()).toMatch(/^#session=/)

    await press('k', 'k')
    await page.waitForFunction(() => document.activeElement?.getAttribute('data-kind') === 'prompt')
    await press('f')
    await page.waitForFunction(() => document.activeElement?.id === 'find')
    await press('Escape')
    await page.waitForSelector('.find-bar', { state: 'detached' })
    await page.evaluate(() =>
      document.activeElement instanceof HTMLElement ? document.activeElement.blur() : undefined,
    )
    await press('i')
    await page.waitForFunction(() => location.hash.includes('show=facts'))
    await press('i')
    await page.waitForFunction(() => !location.hash.includes('show=facts'))
    await press('o')
    await page.waitForTimeout(100)
    const isOutlined = (): Promise<boolean> => page.locator('.outline').isVisible()
    const before = await isOutlined()
    await press('o')
    await page.waitForTimeout(100)
    expect(await isOutlined()).toBe(!before)

    await press('r')
    await page.waitForFunction(() => document.activeElement?.classList.contains('name-field') === true)
    await press('Escape')
    await press('g', 'u')
    await page.waitForFunction(() => location.hash === '#usage')
    await press('g', 'h')
    await page.waitForFunction(() => location.hash === '#' || location.hash === '')
    await press('/')
    await page.waitForFunction(() => location.hash.startsWith('#search'))
    await page.waitForFunction(() => document.activeElement?.getAttribute('type') === 'search')
    await page.keyboard.type('checkout')
    await page.locator('main a[href*="entry="]').first().waitFor()
    await press('ArrowDown', 'Enter')
    await page.waitForFunction(() => location.hash.startsWith('#session'))

    await press('Control+k')
    await page.waitForSelector('[role="dialog"], dialog[open]')
    await page.keyboard.type('usage')
    await press('Enter')
    await page.waitForFunction(() => location.hash === '#usage')
    await press('?')
    await page.getByText('Find in this session').waitFor()
    await press('Escape')
    await page.getByText('Find in this session').waitFor({ state: 'detached' })
    expect(tab.trouble).toEqual([])
    await tab.close()
  })

  test('[WEB15] on a phone the list opens over the page, and nothing is wider than the screen', async () => {
    const tab = await openTab(browser, daemon, PHONE)
    const { page } = tab
    await tab.go(`#session=${sessions[0]?.id ?? ''}`)
    await page.waitForSelector('.conversation-row')
    expect(await page.locator('.sidebar').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Sessions' }).click()
    await page.locator('.session-link').first().waitFor()
    await page.locator('.session-link').last().click()
    await page.locator('.sidebar').waitFor({ state: 'hidden' })
    const small = await page.locator('button:visible, a:visible').evaluateAll((all) =>
      all
        .filter((one) => one.closest('p, .markdown, .skip') === null)
        .map((one) => ({
          name: one.getAttribute('aria-label') ?? one.textContent ?? '',
          box: one.getBoundingClientRect(),
        }))
        .filter(({ box }) => box.height > 0 && box.height < 24)
        .map(({ name, box }) => `${name} ${Math.round(box.height)}`),
    )
    expect(small).toEqual([])
    await tab.close()
  })
})
