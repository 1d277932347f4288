import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { string } from '#base'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  CHROMIUM,
  launchBrowser,
  openAppDaemon,
  openTab,
  showLive,
  tellNothing,
  type AppDaemon,
  type AppTab,
} from './app-browser.ts'
import { findAxeFaults } from './axe.ts'

describe.skipIf(!existsSync(CHROMIUM))('answering by keyboard', () => {
  let browser: Browser
  let daemon: AppDaemon
  let tab: AppTab
  let workdir = ''
  beforeAll(async () => {
    browser = await launchBrowser()
    daemon = await openAppDaemon((claudeDir) => {
      mkdirSync(claudeDir, { recursive: true })
      tellNothing(claudeDir)
    })
    workdir = join(daemon.dir, 'work')
    mkdirSync(workdir)
  })
  beforeEach(async () => {
    tab = await openTab(browser, daemon, { bypassCSP: true })
  })
  afterEach(async () => {
    for (const id of await daemon.liveIds()) await daemon.tell(`/api/sessions/${id}/end`, {})
    const { trouble } = tab
    await tab.close()
    if (trouble.length > 0) throw new Error(trouble.join('\n'))
  })
  afterAll(async () => {
    await browser?.close()
    await daemon?.close()
  })

  async function begin(): Promise<string> {
    const id = string(await daemon.tell('/api/sessions', { agent: 'scripted', workdir }), 'sessionId') ?? ''
    await showLive(tab.page, id)
    return id
  }
  async function say(words: string): Promise<void> {
    await tab.page.fill('#composer', words)
    await tab.page.press('#composer', 'Enter')
  }
  async function expectAsked(): Promise<void> {
    await tab.page.locator('.attention [aria-keyshortcuts="a"], .attention input').first().waitFor()
    await tab.page.waitForTimeout(700)
  }
  const reply = async (text: string): Promise<void> =>
    await tab.page.locator('.passage-reply', { hasText: text }).first().waitFor()

  test('[LWB58] a permission is allowed, denied and edited by keys, and afterwards the keys of the page work', async () => {
    await begin()
    const { page } = tab
    await say('[[tool Bash {"command":"echo 1 > one.txt"}]] [[say After the first.]]')
    await expectAsked()
    // Who is writing writes: no letter answers anything.
    await page.keyboard.type('ad')
    expect(await page.inputValue('#composer')).toBe('ad')
    expect(readdirSync(workdir)).toEqual([])
    await page.fill('#composer', '')
    await page.keyboard.press('Escape')
    expect(await page.evaluate(() => document.activeElement?.className)).toBe('attention')
    await page.keyboard.press('a')
    await reply('After the first.')
    expect(readdirSync(workdir)).toEqual(['one.txt'])
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toContain('conversation')
    // The page listens: `?` opens the sheet, which names these keys, and nothing is written anywhere.
    await page.keyboard.press('?')
    expect(await page.locator('.keys-sheet').innerText()).toContain('When an agent asks')
    await page.keyboard.press('Escape')
    expect(await page.inputValue('#composer')).toBe('')

    await say('[[tool Bash {"command":"echo 2 > two.txt"}]] [[say After the second.]]')
    await expectAsked()
    expect(
      await page
        .locator('.attention [aria-keyshortcuts]')
        .evaluateAll((all) =>
          all.slice(0, 3).map((one) => [one.getAttribute('aria-keyshortcuts'), one.textContent]),
        ),
    ).toEqual([
      ['a', 'Allow once'],
      ['d', 'Deny'],
      ['e', 'Edit…'],
    ])
    expect(await findAxeFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('d')
    await reply('After the second.')

    await say('[[tool Bash {"command":"echo 3 > three.txt"}]] [[say After the third.]]')
    await expectAsked()
    await page.keyboard.press('Escape')
    await page.keyboard.press('e')
    const field = page.locator('.attention-form textarea')
    await field.waitFor()
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'detached' })
    await page.keyboard.press('e')
    await field.fill('echo 4 > four.txt')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await reply('After the third.')
    expect(readdirSync(workdir).toSorted()).toEqual(['four.txt', 'one.txt'])
  })

  test('[LWB58] [LWB12] no key allows what was not seen to its end', async () => {
    await begin()
    const command = Array.from({ length: 80 }, (_, n) => `true step ${n}`).join('\n')
    await say(`[[tool Bash ${JSON.stringify({ command })}]] [[say It went on.]]`)
    await expectAsked()
    await tab.page.keyboard.press('Escape')
    await tab.page.keyboard.press('a')
    await tab.page.keyboard.press('1')
    await tab.page.waitForTimeout(400)
    expect(await tab.page.locator('.attention').count()).toBe(1)
    await tab.page.locator('.seen-box').evaluate((box) => box.scrollTo(0, box.scrollHeight))
    await expect.poll(() => tab.page.locator('.attention [aria-keyshortcuts="a"]').isEnabled()).toBe(true)
    await tab.page.keyboard.press('a')
    await reply('It went on.')
  })

  test('[LWB58] an option is chosen by its number, and the answer given by a key', async () => {
    await begin()
    await say('[[ask Which colour? | Red | Blue]] [[say Thank you.]]')
    await expectAsked()
    await tab.page.keyboard.press('Escape')
    await tab.page.keyboard.press('2')
    expect(await tab.page.locator('.option', { hasText: 'Blue' }).locator('input').isChecked()).toBe(true)
    await tab.page.keyboard.press('a')
    await reply('Thank you.')
  })
})
