import { existsSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { list, object, string } from '#base'
import { generateCorpus } from '#testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CHROMIUM,
  copyRecorded,
  launchBrowser,
  openAppDaemon,
  openTab,
  shownKeys,
  type AppDaemon,
  type AppTab,
} from './app-browser.ts'

describe.skipIf(!existsSync(CHROMIUM))('sessions of every kind, in a real browser', () => {
  let browser: Browser
  let daemon: AppDaemon
  let tab: AppTab
  beforeAll(async () => {
    browser = await launchBrowser()
    daemon = await openAppDaemon(async (claudeDir) => {
      await generateCorpus({ dir: claudeDir, seed: 4, size: 'xs' })
      await copyRecorded(claudeDir)
    })
    tab = await openTab(browser, daemon)
  })
  afterAll(async () => {
    await tab?.close()
    await browser?.close()
    await daemon?.close()
  })

  test('[C9.1] [C3.1] [WEB4] [WEB11] every recorded and every generated session shows its own entries, and nothing fails', async () => {
    const sessions = list(await daemon.ask('/api/sessions'), 'sessions')
    expect(sessions.length).toBeGreaterThan(80)
    const wrong: string[] = []
    for (const session of sessions) {
      const id = string(session, 'id') ?? ''
      const page = await daemon.ask(`/api/sessions/${id}/entries?limit=5000&raw=0`)
      const ids = new Set(list(page, 'readings').flatMap((one) => string(object(one, 'entry'), 'id') ?? []))
      await tab.go(`#session=${id}`)
      await tab.page.waitForFunction((to) => {
        const header = document.querySelector('.session-header')
        return header !== null && location.hash.includes(to) && document.querySelector('.skeleton') === null
      }, id)
      await tab.page.waitForTimeout(40)
      await tab.page.keyboard.press('e')
      const keys = await shownKeys(tab.page)
      // Every message begins with an entry of this session.
      const strange = keys.filter((key) => !key.startsWith('damage') && !ids.has(key))
      if (strange.length > 0) wrong.push(`${id} shows ${strange.join()}`)
      if (ids.size > 0 && keys.length === 0) wrong.push(`${id} shows nothing of ${ids.size} entries`)
    }
    expect(wrong).toEqual([])
    expect(tab.trouble).toEqual([])
  })
})
