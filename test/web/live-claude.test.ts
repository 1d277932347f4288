import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { list, number, string } from '#base'
import {
  CHROMIUM,
  launchBrowser,
  openTab,
  showLive,
  shownKeys,
  type AppDaemon,
  type AppTab,
} from './app-browser.ts'
import { openClaudeDaemon, type ClaudeDaemon } from './claude-daemon.ts'

const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true }
const HANG_MS = 120_000

/** Laptop and phone at a real daemon that runs the real Claude Code. Only the model is ours. */
describe.skipIf(!existsSync(CHROMIUM))('Claude Code from two devices', () => {
  let claude: ClaudeDaemon
  let browser: Browser
  let daemon: AppDaemon
  let laptop: AppTab
  let phone: AppTab
  let workdir = ''

  beforeAll(async () => {
    browser = await launchBrowser()
    claude = await openClaudeDaemon({ wakeUp: { on: false } })
    ;({ daemon, workdir } = claude)
  })
  beforeEach(async () => {
    laptop = await openTab(browser, daemon)
    phone = await openTab(browser, daemon, PHONE)
  })
  afterEach(async () => {
    for (const id of await daemon.liveIds()) await daemon.tell(`/api/sessions/${id}/end`)
    await laptop.close()
    await phone.close()
  })
  afterAll(async () => {
    await browser?.close()
    await claude?.close()
  })

  /** Begins a session and opens it on both. */
  async function begin(agent = 'claude'): Promise<string> {
    const id = string(await daemon.tell('/api/sessions', { agent, workdir }), 'sessionId') ?? ''
    for (const { page } of [laptop, phone]) await showLive(page, id)
    return id
  }

  async function say({ page }: AppTab, text: string): Promise<void> {
    await page.fill('#composer', text)
    await page.locator('.send').click()
  }

  const reply = ({ page }: AppTab, text: string): ReturnType<Page['locator']> =>
    page.locator('.passage-reply:not(.streaming)', { hasText: text })
  const shell = (command: string): string => `[[tool Bash ${JSON.stringify({ command })}]]`
  const made = (name: string): boolean => existsSync(join(workdir, name))

  /** Nothing is shown twice, whatever way it came. */
  async function expectOnce(tab: AppTab): Promise<void> {
    const keys = await shownKeys(tab.page)
    expect(keys).toHaveLength(new Set(keys).size)
  }

  test('[C9.1] [A3.1] [LWB50] a session is begun in the app, its answer comes word by word on both devices, and is still there after a refresh, once', async () => {
    const { page } = laptop
    await page.keyboard.press('n')
    const dialog = page.locator('dialog, [role=dialog]').first()
    await dialog.waitFor()
    await dialog
      .locator('textarea')
      .first()
      .fill(
        '[[slow 250]] [[say Marmalade needs patience and oranges and sugar and a large pot and a cool day and somebody who stirs and somebody who tastes, but mostly oranges.]]',
      )
    await dialog.locator('input[type=text], input:not([type])').first().fill(workdir)
    await dialog.locator('button', { hasText: /^Start$/ }).click()
    await page.waitForFunction(() => location.hash.startsWith('#session='))
    const id = await page.evaluate(() => location.hash.slice('#session='.length))
    await showLive(phone.page, id)
    await phone.page.locator('.streaming', { hasText: 'Marmalade' }).waitFor()
    await page.reload()
    for (const tab of [laptop, phone]) {
      await reply(tab, 'mostly oranges.').waitFor()
      expect(await reply(tab, 'mostly oranges.').count()).toBe(1)
      expect(await tab.page.locator('.passage-prompt').count()).toBe(1)
      await expectOnce(tab)
    }
    expect(await page.evaluate(() => location.hash)).toContain(id)
    await page.reload()
    await reply(laptop, 'mostly oranges.').waitFor()
    expect(await reply(laptop, 'mostly oranges.').count()).toBe(1)
  })

  test('[C9.1] [C5.1] [LWB51] asked on one device, answered on the other: the tool ran, did not, or ran as it was changed', async () => {
    await begin()
    await say(laptop, `${shell('touch allowed')} [[say After the first.]]`)
    await phone.page.locator('.attention button', { hasText: 'Allow once' }).tap()
    await laptop.page.locator('.attention-note', { hasText: 'Allowed once by' }).waitFor()
    await reply(laptop, 'After the first.').waitFor()
    expect(made('allowed')).toBe(true)
    await say(phone, `${shell('touch denied')} [[say After the second.]]`)
    await laptop.page.locator('.attention button', { hasText: /^Deny$/ }).click()
    await reply(phone, 'After the second.').waitFor()
    expect(made('denied')).toBe(false)
    await say(laptop, `${shell('touch asked')} [[say After the third.]]`)
    const card = phone.page.locator('.attention')
    await card.locator('button', { hasText: 'Edit…' }).tap()
    await card.locator('textarea').fill('touch changed')
    await phone.page.locator('button', { hasText: 'Allow this instead' }).tap()
    await reply(laptop, 'After the third.').waitFor()
    expect([made('asked'), made('changed')]).toEqual([false, true])
    for (const tab of [laptop, phone]) await expectOnce(tab)
  })

  test('[A03] [LWB52] the daemon is killed with a permission open: the card is there again, and the answer holds', async () => {
    await begin()
    await say(laptop, `${shell('touch survived')} [[say It survived.]]`)
    await phone.page.locator('.attention').waitFor()
    daemon.kill()
    await laptop.page.waitForTimeout(300)
    await daemon.start()
    expect(made('survived')).toBe(false)
    await phone.page.reload()
    await phone.page.locator('.attention button', { hasText: 'Allow once' }).tap()
    await reply(laptop, 'It survived.').waitFor()
    expect(made('survived')).toBe(true)
    await laptop.page.reload()
    await reply(laptop, 'It survived.').waitFor()
    await expectOnce(laptop)
  })

  test('[FLT32] [LWB53] the agent is killed while it asks: both devices say so, nothing ran, and one click goes on', async () => {
    const id = await begin()
    await say(laptop, `[[say Before it died.]]`)
    await reply(laptop, 'Before it died.').waitFor()
    await say(laptop, shell('touch never'))
    await phone.page.locator('.attention').waitFor()
    const host = number(await daemon.ask(`/api/sessions/${id}/live`), 'pid') ?? 0
    for (const pid of childrenOf(host)) process.kill(pid, 'SIGKILL')
    for (const { page } of [laptop, phone]) {
      await page.locator('.live-over', { hasText: 'crashed' }).waitFor({ timeout: HANG_MS })
      await page.locator('.attention').waitFor({ state: 'detached' })
    }
    expect(made('never')).toBe(false)
    await phone.page.locator('.live-over button', { hasText: 'Resume' }).tap()
    await phone.page.locator('.live-over').waitFor({ state: 'detached' })
    await say(phone, '[[recall]]')
    await reply(laptop, 'Earlier:').waitFor()
    await expectOnce(phone)
  })

  test('[A3.3] [A3.4] [LWB54] one device ends the session: both are idle, the transcript stays, and the next prompt of the other says so', async () => {
    const id = await begin()
    await say(laptop, '[[say Nearly over.]]')
    await reply(phone, 'Nearly over.').waitFor()
    await daemon.tell(`/api/sessions/${id}/end`)
    await phone.page.locator('.live-over', { hasText: 'ended' }).waitFor()
    expect(await reply(phone, 'Nearly over.').count()).toBe(1)
    const late = await fetch(`${daemon.url}/api/sessions/${id}/prompts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id: randomUUID(), blocks: [{ kind: 'text', text: 'hello?' }] }),
    })
    expect([late.status, string(await late.json(), 'code')]).toEqual([409, 'session-ended'])
  })

  test('[A3.2] [LWB16] a new session is begun after this one, asked for in words that promise continuity', async () => {
    const id = await begin()
    await say(laptop, '[[say The one before.]]')
    await reply(laptop, 'The one before.').waitFor()
    const { page } = laptop
    await page.locator('.live-menu summary').click()
    await page.locator('.live-menu-list button', { hasText: 'New session' }).click()
    const confirm = page.locator('.confirm')
    expect(await confirm.innerText()).toMatch(/Nothing of this conversation is lost/)
    await confirm
      .locator('button', { hasText: /New|Begin|Start/ })
      .last()
      .click()
    await page.waitForFunction((old) => !location.hash.includes(old), id)
    await phone.page.locator('.live-over').waitFor()
    const cards = list(await daemon.ask('/api/board'), 'cards')
    const states = new Map(cards.map((card) => [string(card, 'sessionId'), string(card, 'workdir')]))
    const next = await page.evaluate(() => location.hash.slice('#session='.length))
    expect(states.get(next)).toBe(workdir)
  })

  test('[LWB57] [CPY5] a fork has its history at once on both devices, no agent before its first prompt, and knows what was said up to there', async () => {
    const id = await begin()
    await say(laptop, 'Remember the aubergine. [[say The first answer.]]')
    await reply(laptop, 'The first answer.').waitFor()
    await say(laptop, 'Remember the courgette. [[say The second answer.]]')
    await reply(laptop, 'The second answer.').waitFor()
    const { page } = laptop
    await reply(laptop, 'The first answer.').hover()
    await page.locator('.passage-reply button[aria-label="Fork from here"]').first().click()
    await page.waitForFunction((old) => !location.hash.includes(old), id)
    const fork = await page.evaluate(() => location.hash.slice('#session='.length))
    await showLive(phone.page, fork)
    for (const tab of [laptop, phone]) {
      await reply(tab, 'The first answer.').waitFor()
      await tab.page
        .locator('.copied-line', { hasText: /^Forked from Remember the aubergine.* at \d/ })
        .waitFor()
      expect(await tab.page.locator('h1 .ellipsis').innerText()).toMatch(/^Fork of Remember the aubergine/)
      expect(await tab.page.locator('.conversation-list').innerText()).not.toContain('second answer')
      expect(await tab.page.locator('.copied-line a').getAttribute('href')).toBe(`#session=${id}`)
    }
    await page.locator('.session-row.current', { hasText: 'Fork of Remember the aubergine' }).waitFor()
    expect(await daemon.liveIds()).not.toContain(fork)
    await say(laptop, 'And now? [[recall]]')
    await reply(phone, 'aubergine').waitFor()
    await expect.poll(() => daemon.liveIds()).toContain(fork)
    expect(await phone.page.locator('.conversation-list').innerText()).not.toContain('courgette')
    // What is said from here on stands below the line.
    const below = phone.page.locator('.copied-line ~ .conversation-row')
    expect(await below.filter({ has: phone.page.locator('.passage-prompt') }).allInnerTexts()).toEqual([
      expect.stringContaining('And now?'),
    ])
    for (const tab of [laptop, phone]) await expectOnce(tab)
  })

  test('[B2.1] [B2.2] [LWB1] in a long turn everything that was said before stays on the screen', async () => {
    await begin()
    await say(
      laptop,
      `[[say The first fragment.]] ${shell('sleep 1; touch between')} [[slow 300]] [[say The second one, which takes its time and then some more of it, for everybody is to see it while it is still on its way to come out.]]`,
    )
    await phone.page.locator('.attention button', { hasText: 'Allow once' }).tap()
    const looks = [laptop, phone].map(async ({ page }) => {
      await page.locator('.streaming', { hasText: 'The second one' }).waitFor()
      return await page.locator('.passage-reply', { hasText: 'The first fragment.' }).count()
    })
    expect(await Promise.all(looks)).toEqual([1, 1])
    await reply(laptop, 'to come out.').waitFor()
    const texts = await laptop.page.locator('.conversation-list').innerText()
    await laptop.page.reload()
    await reply(laptop, 'to come out.').waitFor()
    await expect
      .poll(async () => words(await laptop.page.locator('.conversation-list').innerText()))
      .toEqual(words(texts))
  })

  test('[ATT35] [LWB12] a command of a megabyte is reached to its end before it can be approved, and the hash is of all of it', async () => {
    const id = await begin('scripted')
    const command = `${'true;'.repeat(210_000)} touch danger`
    await daemon.tell(`/api/sessions/${id}/prompts`, {
      id: randomUUID(),
      blocks: [{ kind: 'text', text: shell(command) }],
    })
    const allow = phone.page.locator('.attention button', { hasText: 'Allow once' })
    await allow.waitFor()
    expect(await allow.isDisabled()).toBe(true)
    const [attention] = list(await daemon.ask('/api/attentions'), 'attentions')
    const answer = { hash: string(attention, 'hash') ?? '', resolution: { kind: 'allow', rules: [] } }
    const cut = await daemon.tell(`/api/attentions/${string(attention, 'id')}/resolution`, {
      ...answer,
      hash: `${answer.hash.slice(0, -1)}${answer.hash.endsWith('0') ? '1' : '0'}`,
    })
    expect(string(cut, 'code')).toBe('attention-mismatch')
    const box = phone.page.locator('.seen-box')
    const exact = phone.page.locator('.attention .exact').first()
    expect(await exact.evaluate((node) => node.textContent)).toBe(command)
    await box.evaluate((node) => node.scrollTo(0, node.scrollHeight))
    await expect.poll(async () => await allow.isDisabled()).toBe(false)
    expect(made('danger')).toBe(false)
    await phone.page.locator('.attention button', { hasText: /^Deny$/ }).tap()
    await phone.page.locator('.attention').waitFor({ state: 'detached' })
    expect(made('danger')).toBe(false)
  })
})

function childrenOf(pid: number): readonly number[] {
  const found = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return found === '' ? [] : found.split(' ').map(Number)
}

/** What is said, without what only a moment shows: times, and how long something took. */
function words(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /fragment|second one|Bash/.test(line))
}
