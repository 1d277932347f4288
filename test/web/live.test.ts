import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { number, string } from '#base'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  CHROMIUM,
  launchBrowser,
  openAppDaemon,
  openTab,
  showLive,
  shownKeys,
  tellNothing,
  type AppDaemon,
  type AppTab,
} from './app-browser.ts'
import { findAxeFaults } from './axe.ts'
import { SCREENS } from './screens.ts'

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }

describe.skipIf(!existsSync(CHROMIUM))('a live session in a real browser', () => {
  let browser: Browser
  let daemon: AppDaemon
  let tab: AppTab
  let workdir = ''
  let child: ChildProcess | undefined
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
    tab = await openTab(browser, daemon)
    await tab.page.evaluate(() => localStorage.setItem('throughline.outline', 'off'))
  })
  afterEach(async () => {
    child?.kill('SIGKILL')
    child = undefined
    for (const id of await daemon.liveIds()) await daemon.tell(`/api/sessions/${id}/end`, {})
    const { trouble } = tab
    await tab.close()
    if (trouble.length > 0) throw new Error(trouble.join('\n'))
  })
  afterAll(async () => {
    await browser?.close()
    await daemon?.close()
  })

  /** Begins a session and opens it. */
  async function begin(page: Page = tab.page): Promise<string> {
    const id = string(await daemon.tell('/api/sessions', { agent: 'scripted', workdir }), 'sessionId') ?? ''
    await showLive(page, id)
    return id
  }

  async function say(words: string, page: Page = tab.page): Promise<void> {
    await page.fill('#composer', words)
    await page.press('#composer', 'Enter')
  }

  const waitFor = async (text: string, page: Page = tab.page): Promise<void> =>
    await page.locator('.passage-reply', { hasText: text }).first().waitFor()
  const count = (text: string, all: string): number => all.split(text).length - 1

  test('[LWB2] [LWB4] [LWB11] a prompt is shown at once and its answer as it comes, each word once, before and after it is written', async () => {
    await begin()
    await say('[[slow 300]] [[say Marmalade is made of **oranges** and patience, mostly patience.]]')
    await tab.page.locator('.prompt', { hasText: 'Marmalade' }).waitFor()
    await tab.page.locator('.streaming strong', { hasText: 'oranges' }).waitFor()
    await tab.page.locator('.live-line', { hasText: 'Working' }).waitFor()
    await tab.page.locator('.passage-reply:not(.streaming)', { hasText: 'mostly patience.' }).waitFor()
    await tab.page.locator('.live-line').waitFor({ state: 'detached' })
    expect(await tab.page.locator('.passage-reply', { hasText: 'mostly patience.' }).count()).toBe(1)
    expect(await tab.page.locator('.passage-prompt').count()).toBe(1)
    expect(await tab.page.locator('.unwritten').count()).toBe(0)
    // What is for screen readers alone is seen by nobody.
    const seen = await tab.page
      .locator('.live-dock .unseen')
      .evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().width > 2).length)
    expect(seen).toBe(0)
  })

  test('[LWB12] [LWB3] a permission is asked with the whole command, answered once, and told to whoever looks on', async () => {
    const id = await begin()
    const phone = await openTab(browser, daemon, PHONE)
    await showLive(phone.page, id)
    await say('[[tool Bash {"command":"echo touched > touched.txt"}]]')
    const card = tab.page.locator('.attention')
    await card.waitFor()
    expect(await card.locator('.exact').innerText()).toBe('echo touched > touched.txt')
    expect(await card.innerText()).toContain(workdir)
    expect(await tab.page.evaluate(() => document.activeElement?.closest('.attention'))).toBeNull()
    expect(existsSync(join(workdir, 'touched.txt'))).toBe(false)
    await phone.page.locator('.attention button', { hasText: 'Allow once' }).click()
    await tab.page.locator('.attention-note', { hasText: 'Allowed once by' }).waitFor()
    await card.waitFor({ state: 'detached' })
    await waitFor('Done.')
    expect(existsSync(join(workdir, 'touched.txt'))).toBe(true)
    expect(phone.trouble).toEqual([])
    await phone.close()
  })

  test('[LWB12] what does not fit is allowed only after it was seen to its end', async () => {
    await begin()
    const command = Array.from({ length: 80 }, (_, n) => `true step ${n}`).join('\n')
    await say(`[[tool Bash ${JSON.stringify({ command })}]]`)
    const allow = tab.page.locator('.attention button', { hasText: 'Allow once' })
    await allow.waitFor()
    await tab.page.waitForTimeout(700)
    expect(await allow.isDisabled()).toBe(true)
    expect(await tab.page.locator('.rule').first().isDisabled()).toBe(true)
    await tab.page.locator('.seen-box').evaluate((box) => box.scrollTo(0, box.scrollHeight))
    await allow.click()
    await waitFor('Done.')
  })

  test('[LWB12] [LWB56] a denial carries its words, and another input is what runs, and what is shown as having run', async () => {
    await begin()
    await say('[[tool Bash {"command":"echo one > one.txt"}]] [[say After the first.]]')
    await tab.page.locator('.attention button', { hasText: 'Deny with words' }).click()
    await tab.page.fill('.attention-form textarea', 'Use another name.')
    await tab.page.locator('.attention-form button', { hasText: /^Deny$/ }).click()
    await waitFor('After the first.')
    await say('[[tool Bash {"command":"echo two > two.txt"}]] [[say After the second.]]')
    await tab.page.locator('.attention button', { hasText: 'Edit…' }).click()
    await tab.page.fill('.attention-form textarea', 'echo three > three.txt')
    await tab.page.locator('button', { hasText: 'Allow this instead' }).click()
    await waitFor('After the second.')
    const made = ['one.txt', 'two.txt', 'three.txt'].filter((name) => existsSync(join(workdir, name)))
    expect(made).toEqual(['three.txt'])
    // What ran stands where it was asked for, with what had been asked: now, and when it is read from disk.
    const expectChange = async (): Promise<void> => {
      const change = tab.page.locator('.call-changed')
      await change.locator('.call-detail', { hasText: 'echo three > three.txt' }).waitFor()
      await change.locator('.diff-removed', { hasText: 'echo two > two.txt' }).waitFor()
      await change.locator('.diff-added', { hasText: 'echo three > three.txt' }).waitFor()
      expect(await change.count()).toBe(1)
    }
    await expectChange()
    await tab.page.reload()
    await expectChange()
    await tab.page.locator('summary', { hasText: 'one.txt' }).click()
    await waitFor('Use another name.')
  })

  test('[LWB9] a question is answered with its options or with words of one’s own', async () => {
    await begin()
    await say('[[ask Which colour? | Red | Blue]] [[say Thank you.]]')
    const answer = tab.page.locator('.attention button', { hasText: /^Answer$/ })
    await answer.waitFor()
    expect(await answer.isDisabled()).toBe(true)
    await tab.page.locator('.option', { hasText: 'Blue' }).click()
    await answer.click()
    await waitFor('Thank you.')
    await waitFor('Blue')
    await say('[[ask Which taste? | Sweet | Sour]] [[say Thanks again.]]')
    await tab.page.fill('.option-free', 'bitter')
    await answer.click()
    await waitFor('Thanks again.')
    await waitFor('bitter')
  })

  test('[LWB1] [C7.1] a reload in the middle of a turn shows all of it, and nothing twice', async () => {
    const id = await begin()
    await say(
      '[[say The first part is whole.]] [[tool Read {"file_path":"nothing.txt"}]] [[slow 300]] [[say And the second part comes slowly, word by word, until it ends here.]]',
    )
    await tab.page.locator('.streaming', { hasText: 'comes slowly' }).waitFor()
    await tab.page.reload()
    await tab.page.waitForSelector('#composer')
    await waitFor('The first part is whole.')
    await tab.page.locator('.passage-reply:not(.streaming)', { hasText: 'ends here.' }).waitFor()
    const all = await tab.page.locator('.passage-reply').allInnerTexts()
    expect(count('The first part is whole.', all.join('\n'))).toBe(1)
    expect(count('comes slowly', all.join('\n'))).toBe(1)
    const keys = await shownKeys(tab.page)
    expect(new Set(keys).size).toBe(keys.length)
    await tab.page.locator('.live-line').waitFor({ state: 'detached' })
    expect(await tab.page.locator('.unwritten').count()).toBe(0)
    expect(id).not.toBe('')
  })

  test('[LWB6] a draft outlives a reload and belongs to its session; sending takes it away', async () => {
    const first = await begin()
    await tab.page.fill('#composer', 'half a thought')
    const second = await begin()
    await tab.page.waitForFunction(
      () => document.querySelector<HTMLTextAreaElement>('#composer')?.value === '',
    )
    await showLive(tab.page, first)
    await tab.page.waitForFunction(
      () => document.querySelector<HTMLTextAreaElement>('#composer')?.value !== '',
    )
    await tab.page.reload()
    await tab.page.waitForSelector('#composer')
    expect(await tab.page.inputValue('#composer')).toBe('half a thought')
    await tab.page.press('#composer', 'Enter')
    await waitFor('You said: half a thought')
    await tab.page.reload()
    await tab.page.waitForSelector('#composer')
    expect(await tab.page.inputValue('#composer')).toBe('')
    expect(second).not.toBe(first)
  })

  test('[LWB7] what is pasted or dropped goes with the prompt, and what cannot go says why', async () => {
    await begin()
    const give = async (kind: 'paste' | 'drop', name: string, text: string): Promise<void> =>
      await tab.page.locator('#composer').evaluate(
        (field, [how, file, content]) => {
          const data = new DataTransfer()
          data.items.add(new File([content ?? ''], file ?? '', { type: 'text/plain' }))
          const event =
            how === 'paste'
              ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
              : new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
          field.dispatchEvent(event)
        },
        [kind, name, text],
      )
    await give('paste', 'notes.txt', 'Marmalade notes')
    await give('drop', 'more.txt', 'More of them')
    await tab.page.locator('.live-dock', { hasText: 'notes.txt' }).waitFor()
    await tab.page.locator('.live-dock', { hasText: 'more.txt' }).waitFor()
    await give('drop', 'strange.bin', '\u0000\u0001\u0002')
    await tab.page.locator('body', { hasText: 'strange.bin is neither a picture nor text' }).waitFor()
    await say('Read these')
    await tab.page.locator('.passage-prompt', { hasText: 'Read these' }).waitFor()
    await tab.page.locator('.passage-prompt', { hasText: 'notes.txt' }).waitFor()
  })

  test('[LWB13] prompts queue while it works, Escape twice stops the turn, and the session goes on', async () => {
    await begin()
    await say('[[say I begin.]] [[hang]]')
    await waitFor('I begin.')
    await say('[[say That was the next one.]]')
    await tab.page.locator('.waiting-prompt', { hasText: 'next one' }).waitFor()
    await tab.page.press('#composer', 'Escape')
    await tab.page.press('#composer', 'Escape')
    await tab.page.locator('.passage-reply', { hasText: 'That was the next one.' }).waitFor()
    expect(await tab.page.locator('.waiting-prompt').count()).toBe(0)
    expect(
      count('That was the next one.', (await tab.page.locator('.passage-reply').allInnerTexts()).join()),
    ).toBe(1)
  })

  test('[LWB14] an agent that dies says so, what it did not write is marked, and one click resumes', async () => {
    await begin()
    await say('[[say Words that nobody wrote down.]] [[pause 200]] [[die]]')
    await tab.page.locator('.live-over', { hasText: 'The agent crashed.' }).waitFor()
    await tab.page.locator('.unwritten-lost').waitFor()
    await tab.page.locator('.live-over button', { hasText: 'Resume' }).click()
    await tab.page.locator('.live-over').waitFor({ state: 'detached' })
    await say('[[say Here again.]]')
    await tab.page.locator('.passage-reply', { hasText: 'Here again.' }).waitFor()
  })

  test('[LWB14] a turn that fails says why, and is tried again with one click', async () => {
    await begin()
    await say('[[fail 529]]')
    const over = tab.page.locator('.live-over', { hasText: 'overloaded (529)' })
    await over.locator('button', { hasText: 'Try again' }).click()
    await tab.page.locator('.passage-prompt').nth(1).waitFor()
    await over.waitFor()
  })

  test('[LWB10] a session that is over goes on with what is sent; one that is held elsewhere asks first', async () => {
    const id = await begin()
    await say('[[say Before the end.]]')
    await waitFor('Before the end.')
    await tab.page.locator('.live-menu summary').click()
    await tab.page.locator('.live-menu-list button', { hasText: 'End session' }).click()
    await tab.page.locator('.confirm button', { hasText: 'End the session' }).click()
    await tab.page.locator('.live-over', { hasText: 'The session was ended.' }).waitFor()
    child = spawn('sleep', ['60'], { stdio: 'ignore' })
    const registry = join(daemon.claudeDir, 'sessions')
    mkdirSync(registry, { recursive: true })
    const holder = { pid: child.pid, sessionId: id, status: 'idle', updatedAt: Date.now(), cwd: workdir }
    writeFileSync(join(registry, `${child.pid}.json`), JSON.stringify(holder))
    await say('[[say After it was taken over.]]')
    const held = tab.page.locator('.held')
    await held.waitFor()
    expect(await held.innerText()).toContain(String(child.pid))
    expect(child.exitCode ?? child.signalCode).toBeNull()
    await held.locator('button', { hasText: 'Take over' }).click()
    await tab.page.locator('.passage-reply', { hasText: 'After it was taken over.' }).waitFor()
    expect(child.signalCode).toBe('SIGTERM')
    // A browser says of every request that is refused that it was.
    expect(tab.trouble.splice(0).every((words) => words.includes('409'))).toBe(true)
  })

  test('[LWB10] a session whose folder is gone asks for one where one writes, before anything is sent, and continues there', async () => {
    const gone = join(daemon.dir, 'gone')
    mkdirSync(gone)
    const id =
      string(await daemon.tell('/api/sessions', { agent: 'scripted', workdir: gone }), 'sessionId') ?? ''
    await showLive(tab.page, id)
    await say('[[say One.]]')
    await waitFor('One.')
    await daemon.tell(`/api/sessions/${id}/end`, {})
    await tab.page.getByRole('button', { name: 'Resume and send' }).waitFor()
    rmSync(gone, { recursive: true })
    await tab.page.reload()
    await tab.page.waitForSelector('#composer')
    expect(await tab.page.locator('.resume-folder').count()).toBe(0)
    await tab.page.click('#composer')
    const field = tab.page.getByLabel('does not exist on this machine. Continue in:')
    await field.waitFor()
    await say('[[say Two.]]')
    await tab.page.getByRole('alert').getByText('Choose a folder to continue in.').waitFor()
    expect(await tab.page.evaluate(() => document.activeElement?.id)).toBe('resume-folder')
    expect(await tab.page.inputValue('#composer')).toBe('[[say Two.]]')
    await field.fill(join(daemon.dir, 'nowhere'))
    await tab.page.press('#composer', 'Enter')
    await tab.page.getByRole('alert').getByText('there is no such folder').waitFor()
    await field.fill(workdir)
    await tab.page.press('#composer', 'Enter')
    await waitFor('Two.')
    await field.waitFor({ state: 'detached' })
    expect(string(await daemon.ask(`/api/sessions/${id}/live`), 'workdir')).toBe(workdir)
    // The browser notes down the folder that was refused.
    expect(tab.trouble.splice(0)).toEqual([expect.stringContaining('404')])
  })

  test('[LWB15] the mode is always in sight, and a mode that is not allowed says why', async () => {
    const id = await begin()
    await tab.page.selectOption('.composer select', 'plan')
    await expect.poll(async () => string(await daemon.ask(`/api/sessions/${id}/live`), 'mode')).toBe('plan')
    await expect.poll(() => tab.page.locator('.composer select').inputValue()).toBe('plan')
    expect(await tab.page.locator('.composer select option').allInnerTexts()).not.toContain(
      'Edit without asking',
    )
    // A page of another version may still offer it.
    await tab.page
      .locator('.composer select')
      .evaluate((field: HTMLSelectElement) => field.add(new Option('Edit without asking', 'accept-edits')))
    await tab.page.selectOption('.composer select', 'accept-edits')
    await tab.page.locator('.toasts', { hasText: 'would ask less than' }).waitFor()
    await expect.poll(() => tab.page.locator('.composer select').inputValue()).toBe('plan')
    expect(tab.trouble.splice(0)).toHaveLength(1)
    await tab.page.fill('.composer .model', 'another-model')
    await tab.page.press('.composer .model', 'Enter')
    await expect
      .poll(async () => string(await daemon.ask(`/api/sessions/${id}/live`), 'model'))
      .toBe('another-model')
  })

  test('[LWB16] a fork begins another session with everything up to a message', async () => {
    const id = await begin()
    await say('[[say The first answer.]]')
    await waitFor('The first answer.')
    await say('[[say The second answer.]]')
    await waitFor('The second answer.')
    await tab.page.locator('.passage-reply', { hasText: 'The first answer.' }).hover()
    await tab.page.locator('.passage-reply button[aria-label="Fork from here"]').first().click()
    await tab.page.waitForFunction((old) => !location.hash.includes(old), id)
    await waitFor('The first answer.')
    await say('[[recall]]')
    await waitFor('Earlier:')
    expect(await tab.page.locator('.conversation-list').innerText()).not.toContain('The second answer.')
  })

  test('[LWB17] on a phone everything of a live session fits, is large enough to touch, and nothing sends by Enter', async () => {
    const phone = await openTab(browser, daemon, PHONE)
    await begin(phone.page)
    await phone.page.fill('#composer', '[[tool Bash {"command":"true"}]]')
    await phone.page.press('#composer', 'Enter')
    expect(await phone.page.inputValue('#composer')).toContain('\n')
    await phone.page.locator('.send').tap()
    await phone.page.locator('.attention').waitFor()
    const small = await phone.page
      .locator('.live-dock :is(button, select):visible')
      .evaluateAll((all) =>
        all.filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.outerHTML),
      )
    expect(small).toEqual([])
    const wide = await phone.page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(wide).toBeLessThanOrEqual(0)
    await phone.page.locator('.attention button', { hasText: 'Allow once' }).tap()
    await waitFor('Done.', phone.page)
    expect(phone.trouble).toEqual([])
    await phone.close()
  })

  test.each(SCREENS)('[LWB17] axe finds nothing serious in a live session: %s', async (_name, options) => {
    const other = await openTab(browser, daemon, { ...options, bypassCSP: true, reducedMotion: 'reduce' })
    const id = await begin(other.page)
    const found: string[] = []
    const look = async (screen: string): Promise<void> => {
      await other.page.waitForTimeout(800)
      found.push(...(await findAxeFaults(other.page)).map((line) => `${screen}: ${line}`))
    }
    const ask = async (words: string): Promise<void> => {
      await daemon.tell(`/api/sessions/${id}/prompts`, {
        id: randomUUID(),
        blocks: [{ kind: 'text', text: words }],
      })
      await other.page.locator('.attention').waitFor()
    }
    await ask('[[tool Bash {"command":"true \u202e"}]]')
    await other.page.fill('#composer', '/c')
    await look('a command')
    await other.page.fill('#composer', 'wait for it')
    await other.page.locator('.send').click()
    await look('a prompt that waits')
    await other.page.locator('.attention button', { hasText: 'Edit…' }).click()
    await look('another input')
    await other.page.locator('button', { hasText: 'Allow this instead' }).click()
    await waitFor('You said: wait for it', other.page)
    await ask('[[tool Write {"file_path":"a.txt","content":"one\\ntwo"}]]')
    await look('a file')
    await other.page.locator('.attention button', { hasText: /^Deny$/ }).click()
    await other.page.locator('.attention').waitFor({ state: 'detached' })
    await ask('[[ask* Which ones? | Red | Blue]]')
    await look('a question')
    await daemon.tell(`/api/sessions/${id}/end`, {})
    await other.page.locator('.live-over').waitFor()
    await look('the end')
    expect(found).toEqual([])
    await other.close()
  })

  test('[LWB18] a prompt of another device appears here too, once', async () => {
    const id = await begin()
    const prompt = { id: randomUUID(), blocks: [{ kind: 'text', text: '[[say Heard from elsewhere.]]' }] }
    await daemon.tell(`/api/sessions/${id}/prompts`, prompt)
    await daemon.tell(`/api/sessions/${id}/prompts`, prompt)
    await tab.page.locator('.passage-reply', { hasText: 'Heard from elsewhere.' }).waitFor()
    expect(await tab.page.locator('.passage-prompt').count()).toBe(1)
    expect(number(await daemon.ask(`/api/sessions/${id}/live`), 'seq')).toBeGreaterThan(0)
  })
})
