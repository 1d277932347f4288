import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { list, string } from '#base'
import { HIDING_COMMANDS, readExact } from '#testing'
import { openCliPlace, type CliPlace } from '../cli-live-place.ts'
import { openScreen, TMUX } from '../tmux-screen.ts'
import {
  CHROMIUM,
  launchBrowser,
  openAppDaemon,
  openTab,
  showLive,
  tellNothing,
  type AppDaemon,
} from '../web/app-browser.ts'

/** All of them as one command of several lines: what is asked shows every one. */
const COMMAND = HIDING_COMMANDS.join('\n')
const CUE = `[[tool Bash ${JSON.stringify({ command: COMMAND })}]]`
/** What a folder of somebody else would run. */
const SETTINGS = {
  hooks: {
    SessionStart: [{ hooks: HIDING_COMMANDS.map((command) => ({ type: 'command', command })) }],
  },
}

/** What a terminal shows of the command, without the signs before its lines. */
function commandOf(shown: string): string {
  const lines = shown.split('\n')
  const first = lines.findIndex((line) => line.startsWith('  $ '))
  const end = lines.findIndex((line, at) => at > first && !line.startsWith('  > '))
  return lines
    .slice(first, end)
    .map((line) => line.slice(4))
    .join('\n')
}

function putSettings(folder: string): void {
  mkdirSync(join(folder, '.claude'), { recursive: true })
  writeFileSync(join(folder, '.claude', 'settings.json'), JSON.stringify(SETTINGS))
}

describe('on the command line', () => {
  let place: CliPlace
  beforeAll(async () => {
    place = await openCliPlace()
  })
  afterAll(() => place.close())

  test('[ATT34] what is asked, listed, offered as a rule and recorded shows every character of what would run', async () => {
    const running = place.start(['run', '--agent', 'scripted', CUE])
    const id = await place.untilAsked()
    const asked = await place.run(['attentions', id])
    expect(readExact(commandOf(asked.out))).toBe(COMMAND)
    expect(asked.out).toMatch(
      /⚠ Contains \d+ characters that are invisible or look like others.*U\+001B \(escape\)/,
    )
    const rule = asked.out.split('\n').find((line) => line.startsWith('  1. for this session: ')) ?? ''
    expect(readExact(rule)).toBe(`  1. for this session: Bash(${COMMAND.replaceAll('\n', '\n')})`)
    const listed = await place.run(['attentions'], { env: { COLUMNS: '200' } })
    expect(listed.out).toContain('⚠ Bash ls -la <U+001B>]8; touch pwned #<U+0007>')
    await running.until(/⚠ Bash ls -la <U\+001B>\]8; touch pwned #<U\+0007>/)
    const answered = await place.run(['answer', id, 'deny'])
    expect(answered.err).toContain('⚠ Bash ls -la <U+001B>]8; touch pwned #<U+0007>')
    await running.done
    const session = string(list(await place.json(['board']), 'cards')[0], 'sessionId') ?? ''
    const audit = await place.run(['audit', session])
    expect(readExact(audit.out.replaceAll('\\u001b', '\u001b'))).toContain('touch pwned #')
    expect(audit.out).toContain('<U+202E>')
    expect(existsSync(join(place.workdir, 'pwned'))).toBe(false)
  })

  describe.skipIf(TMUX === undefined)('in a real terminal', () => {
    test('[ATT34] the command, and the hooks of a folder, are shown whole before anybody can say yes', async () => {
      const env = { ...place.env, COLUMNS: '' }
      const folder = join(place.path, 'foreign')
      putSettings(folder)
      const open = async (args: readonly string[]): ReturnType<typeof openScreen> =>
        await openScreen({
          folder: place.path,
          workdir: place.workdir,
          env,
          command: [...place.command, ...args],
        })
      const asked = await open(['run', '--agent', 'scripted', CUE])
      const shown = await asked.until(/edit first:\s*$/)
      expect(readExact(commandOf(shown))).toBe(COMMAND)
      await asked.type('n')
      await asked.ended()
      await asked.close()
      const trust = await open(['run', '--agent', 'scripted', '--workdir', folder, '--trust', 'hello'])
      const report = readExact(await trust.until(/y\/n:\s*$/))
      for (const command of HIDING_COMMANDS) expect(report).toContain(command)
      expect(report).toContain('⚠ Contains')
      await trust.type('n')
      await trust.ended()
      await trust.close()
    })
  })
})

describe.skipIf(!existsSync(CHROMIUM))('in the web app', () => {
  let browser: Browser
  let daemon: AppDaemon
  beforeAll(async () => {
    browser = await launchBrowser()
    daemon = await openAppDaemon((claudeDir) => {
      mkdirSync(claudeDir, { recursive: true })
      tellNothing(claudeDir)
    })
  })
  afterAll(async () => {
    await browser?.close()
    await daemon?.close()
  })

  test('[ATT34] [LWB8] the command, its rule, an edit of it and the hooks of a folder are shown the same way', async () => {
    const tab = await openTab(browser, daemon)
    const { page } = tab
    const workdir = join(daemon.dir, 'work')
    mkdirSync(workdir)
    const started = await daemon.tell('/api/sessions', { agent: 'scripted', workdir })
    await showLive(page, string(started, 'sessionId') ?? '')
    await page.fill('#composer', CUE)
    await page.press('#composer', 'Enter')
    const card = page.locator('.attention')
    await card.waitFor()
    expect(readExact((await card.locator('pre.exact').textContent()) ?? '')).toBe(COMMAND)
    expect(readExact((await card.locator('.attention-reason code').textContent()) ?? '')).toBe(
      `Bash(${COMMAND})`,
    )
    expect(await card.locator('.exact-warning').innerText()).toContain('U+202E')
    await page.locator('.seen-box').evaluate((box) => box.scrollTo(0, box.scrollHeight))
    await page.getByRole('button', { name: 'Edit…' }).click()
    expect(readExact((await card.locator('pre.exact').textContent()) ?? '')).toBe(COMMAND)
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByRole('button', { name: 'Deny', exact: true }).click()

    const folder = join(daemon.dir, 'foreign')
    putSettings(folder)
    await page.keyboard.press('n')
    await page.getByRole('dialog', { name: 'New session' }).waitFor()
    await page.locator('dialog input[type="text"], dialog input:not([type])').first().fill(folder)
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.locator('.trust').waitFor()
    const hooks = await page.locator('.danger pre').allTextContents()
    expect(hooks.map(readExact)).toEqual(HIDING_COMMANDS)
    expect(await page.locator('.trust .exact-warning').innerText()).toContain('U+001B (escape)')
    await tab.close()
  })
})
