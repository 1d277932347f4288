import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { list, object, string } from '#base'
import { createLines, toJsonl } from '#testing'
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

const A = 'aaaaaaaa-0000-4000-8000-000000000001'
const B = 'bbbbbbbb-0000-4000-8000-000000000002'
const DAMAGED = 'dddddddd-0000-4000-8000-000000000003'
const FORKED = 'ffffffff-0000-4000-8000-000000000004'
const DELEGATING = 'eeeeeeee-0000-4000-8000-000000000005'
const say = (text: string): object[] => [{ type: 'text', text }]

function write(claudeDir: string, id: string, text: string, workdir = 'work'): string {
  const path = join(claudeDir, 'projects', `-home-user-${workdir}`, `${id}.jsonl`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

const a = createLines({ sessionId: A, cwd: '/home/user/work' })
const b = createLines({ sessionId: B, cwd: '/home/user/other' })

async function prepare(claudeDir: string): Promise<void> {
  const long = Array.from({ length: 150 }, (_, n) => [
    a.prompt(`question ${n} about marmalade`),
    a.reply(say(`answer ${n}: **bold** and \`code\``)),
  ]).flat()
  write(claudeDir, A, toJsonl(long))
  write(claudeDir, B, toJsonl([b.prompt('the other session'), b.reply(say('its answer'))]), 'other')
  const d = createLines({ sessionId: DAMAGED, cwd: '/home/user/work' })
  write(
    claudeDir,
    DAMAGED,
    `${toJsonl([d.prompt('before the damage')])}\u0000\u0000\u0000{"type":"user","torn\n${toJsonl([d.reply(say('after the damage'))])}`,
  )
  const f = createLines({ sessionId: FORKED, cwd: '/home/user/work' })
  const first = f.prompt('first of all')
  const answer = f.reply(say('a beginning'))
  const aside = f.prompt('this was set aside')
  const asideAnswer = f.reply(say('words that were set aside'))
  const instead = f.prompt('this instead', { parentUuid: answer.uuid })
  write(
    claudeDir,
    FORKED,
    toJsonl([first, answer, aside, asideAnswer, instead, f.reply(say('the way it went on'))]),
  )
  const e = createLines({ sessionId: DELEGATING, cwd: '/home/user/work' })
  write(
    claudeDir,
    DELEGATING,
    toJsonl([
      e.prompt('delegate it'),
      e.reply([
        {
          type: 'tool_use',
          id: 'toolu_task',
          name: 'Task',
          input: { description: 'look around', subagent_type: 'Explore', prompt: 'look' },
        },
      ]),
      e.result('toolu_task', 'looked around', { toolUseResult: { agentId: 'a1b2c3d4e5f6a7b8c' } }),
    ]),
  )
  const own = join(
    claudeDir,
    'projects',
    '-home-user-work',
    DELEGATING,
    'subagents',
    'agent-a1b2c3d4e5f6a7b8c.jsonl',
  )
  mkdirSync(dirname(own), { recursive: true })
  const s = createLines({ sessionId: DELEGATING, cwd: '/home/user/work' })
  writeFileSync(
    own,
    toJsonl([
      s.prompt('look', { isSidechain: true }),
      s.reply(say('I looked everywhere'), { isSidechain: true }),
    ]),
  )
  await copyRecorded(claudeDir)
}

describe.skipIf(!existsSync(CHROMIUM))('reading sessions in a real browser', () => {
  let browser: Browser
  let daemon: AppDaemon
  let tab: AppTab
  beforeAll(async () => {
    browser = await launchBrowser()
    daemon = await openAppDaemon(prepare)
    tab = await openTab(browser, daemon)
  })
  afterAll(async () => {
    await tab?.close()
    await browser?.close()
    await daemon?.close()
  })

  const text = (selector: string): Promise<string> => tab.page.locator(selector).first().innerText()

  test('[C9.1] [WEB2] every session appears in the sidebar, and the filter finds one at once', async () => {
    await tab.page.waitForSelector('.session-link')
    const sessions = list(await daemon.ask('/api/sessions'), 'sessions')
    expect(await text('.side-foot')).toContain(`${sessions.length} sessions`)
    await tab.page.fill('#filter', 'the other')
    await tab.page.waitForFunction(() => document.querySelectorAll('.session-link').length === 1)
    expect(await text('.session-link')).toContain('the other session')
    await tab.page.fill('#filter', '')
  })

  test('[C9.1] [C8.1] [B1.1] a session shows its own history, and still does after a refresh', async () => {
    await tab.go(`#session=${A}`)
    await tab.page.getByText('answer 149').waitFor()
    await tab.go(`#session=${B}`)
    await tab.page.getByText('its answer').waitFor()
    expect(await tab.page.locator('.conversation').innerText()).not.toContain('marmalade')
    await tab.page.reload()
    await tab.page.getByText('its answer').waitFor()
    expect(tab.page.url()).toContain(`#session=${B}`)
  })

  test('[WEB4] [C7.1] a session opens at its end; scrolling up shows all of it, each entry once, with a bounded document', async () => {
    await tab.go(`#session=${A}`)
    await tab.page.getByText('answer 149').waitFor()
    const isAtEnd = await tab.page
      .locator('.conversation')
      .evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 5)
    expect(isAtEnd).toBe(true)
    const seen = new Set<string>()
    await tab.page.locator('.conversation').hover()
    for (let n = 0; n < 400; n++) {
      const keys = await shownKeys(tab.page)
      expect(new Set(keys).size).toBe(keys.length)
      expect(keys.length).toBeLessThan(520)
      for (const key of keys) seen.add(key)
      if ((await tab.page.getByText('The beginning of the session').count()) > 0) break
      await tab.page.mouse.wheel(0, -3000)
      await tab.page.waitForTimeout(20)
    }
    for (const key of await shownKeys(tab.page)) seen.add(key)
    expect(seen.size).toBe(300)
    expect(await tab.page.locator('.conversation').innerText()).toContain('question 0 about marmalade')
  })

  test('[WEB1] [WEB4] a link to an entry leads to it, wherever it stands, also when it is opened anew', async () => {
    const page = await daemon.ask(`/api/sessions/${A}/entries?offset=0&limit=40`)
    const wanted = string(object(list(page, 'readings')[10], 'entry'), 'id') ?? ''
    await tab.go(`#session=${A}&entry=${wanted}`)
    const isInSight = async (): Promise<void> => {
      await tab.page.waitForFunction((id) => {
        const row = document.querySelector(`[data-key="${id}"]`)
        const top = row?.getBoundingClientRect().top ?? -1
        return top > 40 && top < innerHeight / 2
      }, wanted)
    }
    await isInSight()
    await tab.page.reload()
    await isInSight()
    await tab.page.getByRole('button', { name: 'To the end' }).click()
    await tab.page.getByText('answer 149').waitFor()
  })

  test('[WEB4] an entry that is nowhere is said to be missing, with a way on', async () => {
    await tab.go(`#session=${A}&entry=00000000-0000-4000-8000-00000000dead`)
    await tab.page.getByText('This could not be read').waitFor()
    await tab.page.getByRole('button', { name: 'Go to the end of the session' }).click()
    await tab.page.getByText('answer 149').waitFor()
  })

  test('[C9.1] [C3.2] [WEB4] a damaged session says so in the list, and shows the damage where it is', async () => {
    await tab.go(`#session=${DAMAGED}`)
    await tab.page.getByText('after the damage').waitFor()
    const words = await tab.page.locator('.conversation').innerText()
    expect(words.indexOf('before the damage')).toBeLessThan(words.indexOf('could not be read'))
    expect(words.indexOf('could not be read')).toBeLessThan(words.indexOf('after the damage'))
    await tab.page.locator('.session-header .badge.damaged').waitFor()
  })

  test('[C9.1] [WEB4] a session that is nowhere gives an error with a next step, and the app goes on', async () => {
    await tab.go('#session=00000000-0000-4000-8000-00000000dead')
    await tab.page.getByText('There is no such session here').waitFor()
    await tab.go(`#session=${B}`)
    await tab.page.getByText('its answer').waitFor()
  })

  test('[WEB8] branches have a switcher where they part', async () => {
    await tab.go(`#session=${FORKED}`)
    await tab.page.getByText('the way it went on').first().waitFor()
    await tab.page.locator('.fork').waitFor()
    await tab.page.waitForFunction(
      () => !document.querySelector('.conversation')?.textContent?.includes('words that were set aside'),
    )
    await tab.page.getByRole('button', { name: 'Next branch' }).click()
    await tab.page.getByText('words that were set aside').waitFor()
    expect(await tab.page.locator('.conversation-list').innerText()).not.toContain('this instead')
  })

  test('[WEB8] [B1.1] a subagent is a conversation inside the call that started it', async () => {
    await tab.go(`#session=${DELEGATING}`)
    await tab.page.getByText('look around').first().waitFor()
    for (let n = 0; n < 4; n++) {
      if ((await tab.page.getByText('I looked everywhere').count()) > 0) break
      await tab.page.locator('.conversation details:not([open]) > summary').last().click()
      await tab.page.waitForTimeout(200)
    }
    await tab.page.getByText('I looked everywhere').waitFor()
  })

  test('[WEB9] find in session finds what is not in the document, and goes from one place to the next', async () => {
    await tab.go(`#session=${A}`)
    await tab.page.getByText('answer 149').waitFor()
    await tab.page.locator('.conversation').focus()
    await tab.page.keyboard.press('f')
    await tab.page.fill('#find', '"question 3 about"')
    await tab.page.locator('.conversation').getByText('question 3 about marmalade').waitFor()
    await tab.page.locator('.find-count', { hasText: '1 of 1' }).waitFor()
    await tab.page.keyboard.press('Escape')
  })

  test('[WEB10] [WEB23] search finds as one types, and a hit lands on its entry', async () => {
    await tab.go('#search=')
    await tab.page
      .getByRole('searchbox', { name: /search/i })
      .last()
      .fill('"answer 7"')
    const hit = tab.page.locator(`main a[href*="${A}"][href*="entry="]`).first()
    await hit.waitFor()
    await hit.click()
    await tab.page.waitForFunction(() => {
      const rows = [...document.querySelectorAll('.conversation-row')]
      return rows.some((row) => {
        const { top } = row.getBoundingClientRect()
        return row.textContent.includes('answer 7:') && top > 0 && top < innerHeight
      })
    })
    await tab.page.locator('.conversation mark').first().waitFor()
  })

  test('[C9.1] [WEB6] [C4.1] what is written to the file appears at once, each entry once, also after a refresh', async () => {
    await tab.go(`#session=${B}`)
    await tab.page.getByText('its answer').waitFor()
    const path = join(daemon.claudeDir, 'projects', '-home-user-other', `${B}.jsonl`)
    appendFileSync(path, toJsonl([b.prompt('and now?'), b.reply(say('fresh words'))]))
    await tab.page.getByText('fresh words').waitFor()
    await tab.page.reload()
    await tab.page.getByText('fresh words').waitFor()
    appendFileSync(path, toJsonl([b.reply(say('still more'))]))
    await tab.page.getByText('still more').waitFor()
    expect(await tab.page.getByText('fresh words').count()).toBe(1)
    expect(await tab.page.getByText('still more').count()).toBe(1)
  })

  test('[WEB7] [C4.2] while the daemon is away the app says so, and goes on where it was when it is back', async () => {
    await tab.go(`#session=${B}`)
    await tab.page.getByText('its answer').waitFor()
    const before = await shownKeys(tab.page)
    daemon.kill()
    await tab.page.locator('.connection-bar').waitFor()
    expect(await shownKeys(tab.page)).toEqual(before)
    appendFileSync(
      join(daemon.claudeDir, 'projects', '-home-user-other', `${B}.jsonl`),
      toJsonl([b.reply(say('while you were away'))]),
    )
    await daemon.start()
    await tab.page.getByText('while you were away').waitFor()
    expect(await tab.page.getByText('while you were away').count()).toBe(1)
    await tab.page.locator('.connection-bar').waitFor({ state: 'detached' })
  })

  test('[WEB2] a name and a star are given in place, and stay', async () => {
    await tab.go(`#session=${B}`)
    await tab.page.getByText('its answer').waitFor()
    await tab.page.locator('.conversation').focus()
    await tab.page.keyboard.press('r')
    await tab.page.fill('.session-header .name-field', 'My own name')
    await tab.page.keyboard.press('Enter')
    await tab.page.getByRole('heading', { name: 'My own name' }).waitFor()
    await tab.page.locator('.conversation').focus()
    await tab.page.keyboard.press('x')
    await tab.page.getByRole('heading', { name: 'Starred' }).waitFor()
    await tab.page.reload()
    await tab.page.getByRole('heading', { name: 'My own name' }).waitFor()
    await tab.page.getByRole('heading', { name: 'Starred' }).waitFor()
  })

  test('[WEB11] nothing in all this failed, and nobody else was asked for anything', () => {
    const told = tab.trouble.filter((line) => !/Failed to load resource|WebSocket|ERR_CONNECTION/.test(line))
    expect(told).toEqual([])
  })
})
