import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Browser } from 'playwright-core'
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

const PLANNED = 'aaaaaaaa-0000-4000-8000-00000000000a'

const call = (id: string, name: string, input: object): object => ({ type: 'tool_use', id, name, input })
const CANNED =
  "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file)."

function prepare(claudeDir: string): void {
  const write = (id: string, lines: readonly object[]): void => {
    const path = join(claudeDir, 'projects', '-home-user-work', `${id}.jsonl`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, toJsonl(lines))
  }
  write(PLANNED, planned())
}

/** A plan that was declined with words, one that was approved, and a question that nobody wanted to answer. */
function planned(): readonly object[] {
  const lines = createLines({ sessionId: PLANNED, cwd: '/home/user/work' })
  const refused = (id: string, words: string): object => ({
    ...lines.result(id, ''),
    message: {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: words, is_error: true }],
    },
  })
  const plan = '# Move the clock\n\n1. **Inject** the clock\n2. Run `npm test`'
  return [
    lines.prompt('Plan it'),
    lines.reply([call('toolu_1', 'ExitPlanMode', { plan: '# Sleep\n\nUse `sleep`.' })]),
    refused('toolu_1', `${CANNED} To tell you how to proceed, the user said:\nNo sleeps`),
    lines.reply([call('toolu_2', 'ExitPlanMode', { plan })]),
    lines.result('toolu_2', `User has approved your plan.\n\n## Approved Plan:\n${plan}`),
    lines.reply([call('toolu_3', 'AskUserQuestion', { questions: [{ question: 'Which zone?' }] })]),
    refused('toolu_3', CANNED),
    lines.prompt('[Request interrupted by user for tool use]'),
  ]
}

describe.skipIf(!existsSync(CHROMIUM))('passages in a real browser', () => {
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

  test('[WEB34] a plan is read as Markdown without being unfolded, and says whether it was approved', async () => {
    const { page } = tab
    await tab.go(`#session=${PLANNED}`)
    const plan = page.locator('.call', { hasText: 'Move the clock' })
    await plan.locator('.plan strong', { hasText: 'Inject' }).waitFor()
    expect(await plan.locator('.plan li').count()).toBe(2)
    expect(await plan.locator('.call-outcome').innerText()).toBe('approved')
    expect(await plan.innerText()).not.toContain('Approved Plan')
    const declined = page.locator('.call', { hasText: 'Use sleep' })
    expect(await declined.locator('.call-outcome').innerText()).toBe('declined by you: No sleeps')
    // Closed, it stays closed.
    await plan.locator('summary').first().click()
    await plan.locator('.plan').waitFor({ state: 'detached' })
  })

  test('[WEB34] what a person did not want is no failure: it says who declined, and who interrupted', async () => {
    const { page } = tab
    await tab.go(`#session=${PLANNED}`)
    const question = page.locator('.call', { hasText: 'Which zone?' })
    expect(await question.locator('.call-outcome').innerText()).toBe('declined by you')
    expect(await page.locator('.call-failed').count()).toBe(0)
    await page.locator('.notice', { hasText: 'You interrupted' }).waitFor()
    expect(await page.locator('.conversation').innerText()).not.toContain('[Request interrupted')
    await tab.go(`#session=${PLANNED}&show=facts`)
    await page.getByText('1 declined').first().waitFor()
    expect(await page.locator('.tag', { hasText: 'failed' }).count()).toBe(0)
  })

  test('[WEB11] nothing in all this failed', () => {
    expect(tab.trouble).toEqual([])
  })
})
