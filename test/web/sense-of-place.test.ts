import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { list, object, string } from '#base'
import { createLines, toJsonl } from '#testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CHROMIUM,
  launchBrowser,
  openAppDaemon,
  openTab,
  type AppDaemon,
  type AppTab,
} from './app-browser.ts'

const LONG = 'aaaaaaaa-0000-4000-8000-000000000011'
const EDITED = 'bbbbbbbb-0000-4000-8000-000000000012'
const OTHER = 'cccccccc-0000-4000-8000-000000000013'
const PROMPTS = 120

function write(claudeDir: string, id: string, lines: readonly object[]): void {
  const path = join(claudeDir, 'projects', '-home-user-work', `${id}.jsonl`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, toJsonl(lines))
}

function prepare(claudeDir: string): void {
  const a = createLines({ sessionId: LONG, cwd: '/home/user/work' })
  const answer = 'marmalade needs patience and oranges. '.repeat(300)
  write(
    claudeDir,
    LONG,
    Array.from({ length: PROMPTS }, (_, n) => [
      a.prompt(`question ${n}`),
      a.reply([{ type: 'text', text: `answer ${n}: ${answer}` }]),
    ]).flat(),
  )
  const b = createLines({ sessionId: EDITED, cwd: '/home/user/work' })
  const file = '/home/user/work/jam.ts'
  const call = (id: string, name: string, input: object): object => ({ type: 'tool_use', id, name, input })
  const calls = [
    call('toolu_read', 'Read', { file_path: file }),
    call('toolu_one', 'Edit', { file_path: file, old_string: 'one', new_string: 'two' }),
    call('toolu_two', 'Edit', { file_path: file, old_string: 'two', new_string: 'three' }),
    call('toolu_again', 'Read', { file_path: file }),
    call('toolu_bad', 'Edit', { file_path: file, old_string: 'nothing', new_string: 'at all' }),
  ]
  const question = b.prompt('make the jam')
  const asked = calls.map((one) => {
    const line = b.reply([one])
    return { ...line, message: { ...object(line, 'message'), id: 'msg_of_all' } }
  })
  const answers = calls.map((one) => {
    const id = string(one, 'id') ?? ''
    const failed = { type: 'tool_result', tool_use_id: id, content: 'not found', is_error: true }
    return b.result(id, 'done', id === 'toolu_bad' ? { message: { role: 'user', content: [failed] } } : {})
  })
  write(claudeDir, EDITED, [
    question,
    ...asked,
    ...answers,
    b.reply([{ type: 'text', text: 'It is made. '.repeat(400) }]),
    ...Array.from({ length: 20 }, (_, n) => [
      b.prompt(`and then ${n}`),
      b.reply([{ type: 'text', text: answer.slice(0, 2000) }]),
    ]).flat(),
  ])
  const c = createLines({ sessionId: OTHER, cwd: '/home/user/other' })
  write(claudeDir, OTHER, [c.prompt('the other one'), c.reply([{ type: 'text', text: 'its answer' }])])
}

describe.skipIf(!existsSync(CHROMIUM))('where one is', () => {
  let browser: Browser
  let daemon: AppDaemon
  let tab: AppTab
  beforeAll(async () => {
    browser = await launchBrowser()
    daemon = await openAppDaemon(prepare)
    tab = await openTab(browser, daemon, { viewport: { width: 1440, height: 900 } })
  })
  afterAll(async () => {
    await tab?.close()
    await browser?.close()
    await daemon?.close()
  })

  const current = async (): Promise<string> =>
    await tab.page.locator('.outline-point[aria-current="location"] .ellipsis').innerText()
  const shows = async (): Promise<boolean> =>
    await tab.page.locator('.outline-point[aria-current="location"]').evaluate((point) => {
      const { top, bottom } = point.getBoundingClientRect()
      const box = point.closest('.virtual')?.getBoundingClientRect()
      return box !== undefined && top >= box.top - 1 && bottom <= box.bottom + 1
    })

  test('[WEB17] the outline follows what is read: at the end, step by step, and to the beginning', async () => {
    const { page } = tab
    await tab.go(`#session=${LONG}`)
    await page.locator('.passage-reply', { hasText: `answer ${PROMPTS - 1}:` }).waitFor()
    await expect.poll(current).toBe(`question ${PROMPTS - 1}`)
    await expect.poll(shows).toBe(true)
    for (const step of [1, 2, 3]) {
      await page.keyboard.press('k')
      await expect.poll(current).toBe(`question ${PROMPTS - step}`)
    }
    await page.keyboard.press('j')
    await expect.poll(current).toBe(`question ${PROMPTS - 2}`)
    await page.locator('.outline .virtual').evaluate((box) => box.scrollTo(0, 0))
    await page.locator('.outline-point', { hasText: 'question 3' }).first().click()
    await expect.poll(current).toMatch(/^question 3/)
    await page.keyboard.press('g')
    await page.keyboard.press('g')
    await expect.poll(current).toBe('question 0')
    await expect.poll(shows).toBe(true)
    // The beginning is in sight whole, and not half behind the header.
    expect(await page.locator('.conversation').evaluate((box) => box.scrollTop)).toBe(0)
    expect(tab.trouble).toEqual([])
  })

  test('[WEB55] in a long session a strip shows how far into all of it one is', async () => {
    const { page } = tab
    const at = async (): Promise<number> =>
      await page.locator('.place-strip').evaluate((strip) => {
        const mark = strip.firstElementChild?.getBoundingClientRect()
        const all = strip.getBoundingClientRect()
        return ((mark?.top ?? 0) - all.top) / (all.height - (mark?.height ?? 0))
      })
    await tab.go(`#session=${LONG}`)
    await page.locator('.place-strip').waitFor()
    await page.keyboard.press('G')
    await expect.poll(at).toBeGreaterThan(0.95)
    const digest = await daemon.ask(`/api/sessions/${LONG}/digest`)
    const middle = list(digest, 'outline')[PROMPTS / 2]
    await tab.go(`#session=${LONG}&entry=${string(middle, 'id') ?? ''}`)
    await expect.poll(at).toBeGreaterThan(0.45)
    await expect.poll(at).toBeLessThan(0.55)
    await tab.go(`#session=${EDITED}`)
    await page.locator('.passage-reply').first().waitFor()
    expect(await page.locator('.place-strip').count()).toBe(0)
  })

  test('[WEB56] a file among the facts leads to its last change that held, unfolded', async () => {
    const { page } = tab
    await tab.go(`#session=${EDITED}&show=facts`)
    await page.getByRole('link', { name: 'jam.ts' }).click()
    const call = page.locator('details[data-call="toolu_two"]')
    await call.waitFor()
    await expect.poll(() => call.evaluate((one) => one instanceof HTMLDetailsElement && one.open)).toBe(true)
    await call.locator('.diff-added', { hasText: 'three' }).waitFor()
    const place = await call.boundingBox()
    expect(place?.y).toBeGreaterThan(0)
    expect(place?.y).toBeLessThan(700)
    expect(
      await page.locator('details[data-call="toolu_one"]').evaluate((one) => one.hasAttribute('open')),
    ).toBe(false)
  })

  test('[WEB14] J and K step through the list as it is on the screen', async () => {
    const { page } = tab
    const rows = await page
      .locator('.sidebar .session-link')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''))
    expect(rows).toHaveLength(3)
    const expectAt = async (row: string | undefined): Promise<void> =>
      await page.locator(`.session-row.current a[href="${row ?? ''}"]`).waitFor()
    await tab.go(rows[0] ?? '')
    await expectAt(rows[0])
    for (const row of rows.slice(1)) {
      await page.keyboard.press('J')
      await expectAt(row)
    }
    await page.keyboard.press('K')
    await expectAt(rows[1])
    // Two keys in a row are two steps, however soon the second one comes.
    await tab.go(rows[0] ?? '')
    await expectAt(rows[0])
    await page.evaluate(() => {
      for (const key of ['J', 'J']) dispatchEvent(new KeyboardEvent('keydown', { key }))
    })
    await expectAt(rows[2])
  })
})
