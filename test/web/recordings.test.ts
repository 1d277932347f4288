import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { appendFile, readdir, rm, truncate, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Browser } from 'playwright-core'
import { openRecording, type Recording, type RecordingOptions } from '#recorder'
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

const COPY = 'cccccccc-0000-4000-8000-000000000001'
const FOREIGN = 'ffffffff-0000-4000-8000-000000000002'
const LONG = 'a line of the file that was read\n'.repeat(600)
/** Where a person wants to look at it: `PICTURES=/tmp/x npx vitest run test/web/recordings`. */
const PICTURES = process.env['PICTURES']

describe.skipIf(!existsSync(CHROMIUM))('recordings in the app', () => {
  let browser: Browser
  let daemon: AppDaemon
  let tab: AppTab
  let whole: Recording
  let lacking: Recording
  let torn: Recording

  async function record(
    claudeDir: string,
    agent: string,
    options: Partial<RecordingOptions> = {},
  ): Promise<Recording> {
    const cwd = join(claudeDir, '..', 'work')
    mkdirSync(cwd, { recursive: true })
    const register = join(claudeDir, '..', 'home')
    const recording = await openRecording({ cwd, agent, version: '1', register, large: 'blobs', ...options })
    await recording.user(`explain the tides to ${agent}`)
    await recording.assistant({
      model: 'claude-opus-5-5',
      content: [
        { type: 'text', text: 'Let me read that file.' },
        { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'src/tides.rs' } },
      ],
      usage: { input_tokens: 1200, output_tokens: 350, cache_read_input_tokens: 800 },
    })
    await recording.toolResult({ tool_use_id: 'toolu_1', content: LONG })
    await recording.assistant({ model: 'claude-opus-5-5', content: `The moon pulls. Says ${agent}.` })
    return recording
  }

  async function prepare(claudeDir: string): Promise<void> {
    whole = await record(claudeDir, 'forgeflare', { extra: { gitBranch: 'main', clientSessionId: 'ff-7' } })
    await whole.end()
    lacking = await record(claudeDir, 'codex')
    await lacking.end()
    for (const name of await readdir(join(lacking.folder, 'blobs')))
      await rm(join(lacking.folder, 'blobs', name))
    torn = await record(claudeDir, 'gemini')
    await torn.end()
    await truncate(torn.path, (await stat(torn.path)).size - 30)
    const metadata = join(claudeDir, '..', 'work', '.entire', 'metadata')
    const lines = createLines({ sessionId: COPY, cwd: dirname(dirname(metadata)) })
    put(
      join(metadata, COPY),
      toJsonl([lines.prompt('kept by Entire'), lines.reply([{ type: 'text', text: 'Yes.' }])]),
    )
    put(join(metadata, FOREIGN), '{"type":"session_meta","payload":{"id":"x"}}\n')
    writeFileSync(join(metadata, FOREIGN, 'prompt.txt'), 'asked of Codex\n\n---\n\nand again')
  }

  function put(folder: string, content: string): void {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'full.jsonl'), content)
  }

  beforeAll(async () => {
    browser = await launchBrowser()
    daemon = await openAppDaemon(prepare)
    tab = await openTab(browser, daemon)
  })
  afterAll(async () => {
    await browser?.close()
    await daemon?.close()
  })

  async function picture(name: string): Promise<void> {
    if (PICTURES !== undefined) await tab.page.screenshot({ path: join(PICTURES, `${name}.png`) })
  }

  test('[ENT19] they are in the list with their agent, and what is wrong with them', async () => {
    const { page } = tab
    const row = (text: string) => page.locator('.session-row', { hasText: text })
    await row('explain the tides to forgeflare').waitFor()
    for (const agent of ['forgeflare', 'codex', 'gemini']) {
      const icon = row(`explain the tides to ${agent}`).getByRole('img', { name: agent })
      expect(await icon.count()).toBe(1)
    }
    await expect.poll(() => row('explain the tides to gemini').innerText()).toContain('damaged')
    await expect.poll(() => row('explain the tides to codex').innerText()).toContain('damaged')
    expect(await row('asked of Codex').innerText()).toContain('unreadable')
    await picture('list')
  })

  test('[ENT7] [ENT19] a conversation is whole, and its facts say that it was recorded', async () => {
    const { page } = tab
    await tab.go(`#session=${whole.sessionId}`)
    await page.getByText('Says forgeflare').waitFor()
    await page.getByText('read_file').first().click()
    await page.getByText('a line of the file that was read').first().waitFor()
    expect(await page.locator('#composer').count()).toBe(0)
    await picture('session')
    await tab.go(`#session=${whole.sessionId}&show=facts`)
    await page.getByText('A recording: written beside the work while forgeflare was at it.').waitFor()
    expect(await page.getByText('ff-7').count()).toBe(1)
    await page.locator('.whereabouts').scrollIntoViewIfNeeded()
    await picture('facts')
    await tab.go(`#session=${COPY}&show=facts`)
    await page.getByText("Entire: a copy of the agent's own transcript").waitFor()
    expect(await page.getByText('claude --resume').count()).toBe(0)
  })

  test('[ENT8] [ENT19] a text that is gone is told where it was, and a torn end where it is', async () => {
    const { page } = tab
    await tab.go(`#session=${lacking.sessionId}`)
    await page.getByText('is not whole: blob-missing').waitFor()
    await picture('lacking')
    await tab.go(`#session=${torn.sessionId}`)
    await page.getByText('could not be read: torn').waitFor()
    await picture('torn')
    await tab.go(`#session=${FOREIGN}`)
    await page.getByText('codex').first().waitFor()
    await picture('foreign')
  })

  test('[ENT12] what is recorded now appears while it is looked at', async () => {
    const { page } = tab
    await tab.go(`#session=${whole.sessionId}`)
    await page.getByText('Says forgeflare').waitFor()
    const again = await openRecording({
      cwd: join(daemon.dir, 'work'),
      agent: 'forgeflare',
      version: '1',
      register: false,
      sessionId: whole.sessionId,
    })
    await again.user('and the sun?')
    await page.getByText('and the sun?').first().waitFor()
    await again.end()
    await appendFile(join(daemon.dir, 'home', 'noise'), 'x')
    expect(tab.trouble).toEqual([])
  })
})
