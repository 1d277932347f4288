import { existsSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { field, list, string } from '#base'
import { isWakeUp, parseWakeUp, readBlocks, renderDirective, textOf } from '#model'
import { CHROMIUM, launchBrowser, openTab, showLive, type AppTab } from './app-browser.ts'
import { openClaudeDaemon, type ClaudeDaemon } from './claude-daemon.ts'

const LEARNED = 'The harbour file is read once.'
const BETTER = 'The harbour file is read once, at the start of the day.'

/** From what one session said, over a person's hand, to what the model of the next one is told. */
describe.skipIf(!existsSync(CHROMIUM))('memory between sessions of Claude Code', () => {
  let claude: ClaudeDaemon
  let browser: Browser
  let laptop: AppTab
  let phone: AppTab

  beforeAll(async () => {
    browser = await launchBrowser()
    claude = await openClaudeDaemon({ names: { human: 'Ann', agent: 'Bo' } })
    laptop = await openTab(browser, claude.daemon)
    phone = await openTab(browser, claude.daemon, { viewport: { width: 390, height: 780 } })
    for (const { page } of [laptop, phone]) page.setDefaultTimeout(90_000)
  })
  afterAll(async () => {
    for (const id of (await claude?.daemon.liveIds()) ?? [])
      await claude.daemon.tell(`/api/sessions/${id}/end`)
    await laptop?.close()
    await phone?.close()
    await browser?.close()
    await claude?.close()
  })

  /** The wake-ups in the last request that was made on behalf of a session. */
  function toldTo(sessionId: string): readonly string[] {
    const request = claude.api.requests.findLast(
      (each) => each.purpose === 'conversation' && each.sessionId === sessionId,
    )
    return list(request?.body, 'messages')
      .flatMap((message) => readBlocks(field(message, 'content')).map((block) => textOf([block])))
      .filter(isWakeUp)
  }

  const knowledgeIn = (wakeUp: string): readonly string[] =>
    (parseWakeUp(wakeUp)?.contexts ?? []).flatMap(({ items }) => items.map(({ text }) => text))

  const linesIn = (wakeUp: string): readonly string[] =>
    (parseWakeUp(wakeUp)?.transcript?.lines ?? []).flatMap((line) => ('text' in line ? [line.text] : []))

  async function begin(): Promise<string> {
    const { daemon, workdir } = claude
    const id = string(await daemon.tell('/api/sessions', { agent: 'claude', workdir }), 'sessionId') ?? ''
    for (const { page } of [laptop, phone]) await showLive(page, id)
    return id
  }

  async function say(text: string): Promise<void> {
    await laptop.page.fill('#composer', text)
    await laptop.page.locator('.send').click()
  }

  test('[MWB21] [B3.1] [B5.1] [A3.1] spoken by one session, edited by a person, told to the next one exactly once; and a new one carries the words of the one just ended', async () => {
    await begin()
    await say(`[[say Looked at it. ${renderDirective('remember', { content: LEARNED })}]]`)
    for (const { page } of [laptop, phone]) await page.locator('.passage-reply .told-kept').waitFor()
    await phone.go('#memory')
    const card = phone.page.locator('.memory-card', { hasText: LEARNED })
    await card.waitFor()

    await laptop.go('#memory')
    await laptop.page.locator('.memory-card', { hasText: LEARNED }).click()
    const detail = laptop.page.getByRole('region', { name: 'Document', exact: true })
    await detail.getByRole('button', { name: 'Edit' }).click()
    await laptop.page.getByLabel('Text', { exact: true }).fill(BETTER)
    await laptop.page.getByRole('button', { name: 'Save', exact: true }).click()
    await phone.page.locator('.memory-card', { hasText: BETTER }).waitFor()
    for (const one of await claude.daemon.liveIds()) await claude.daemon.tell(`/api/sessions/${one}/end`)

    const second = await begin()
    await expect.poll(() => toldTo(second).length, { timeout: 90_000 }).toBe(1)
    await say('[[say The second one speaks.]]')
    await laptop.page.locator('.passage-reply', { hasText: 'The second one speaks.' }).waitFor()
    const [told = '', ...more] = toldTo(second)
    expect(more).toEqual([])
    expect(knowledgeIn(told)).toEqual([BETTER])
    expect(linesIn(told).join('\n')).toContain('Looked at it.')
    // The agent's own words, without what it asked to be kept.
    expect(linesIn(told).at(-1)).toBe('Looked at it.')

    await laptop.page.locator('.live-menu summary').click()
    await laptop.page.locator('.live-menu-list button', { hasText: 'New session' }).click()
    await laptop.page
      .locator('.confirm')
      .locator('button', { hasText: /New|Begin|Start/ })
      .last()
      .click()
    await laptop.page.waitForFunction((old) => !location.hash.includes(old), second)
    const third = await laptop.page.evaluate(() => location.hash.slice('#session='.length))
    await expect.poll(() => toldTo(third).length, { timeout: 90_000 }).toBe(1)
    const [next = ''] = toldTo(third)
    expect(parseWakeUp(next)?.transcript?.sessionId).toBe(second)
    expect(linesIn(next).join('\n')).toContain('The second one speaks.')
    // A wake-up is never part of the next one.
    expect(linesIn(next).filter(isWakeUp)).toEqual([])
    expect(knowledgeIn(next)).toEqual([BETTER])
    await laptop.page.locator('details.wake-up').first().waitFor()
    expect([...laptop.trouble, ...phone.trouble]).toEqual([])
  })
})
