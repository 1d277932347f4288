import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { list, string } from '#base'
import { createLines, SESSION, toJsonl, writeTranscript } from '#testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  CHROMIUM,
  launchBrowser,
  openAppDaemon,
  openTab,
  type AppDaemon,
  type AppTab,
} from './app-browser.ts'
import { findAxeFaults } from './axe.ts'

const MOVED = '0c0ffee0-0000-4000-8000-00000000000a'
/** Where a person wants to look at it: `PICTURES=/tmp/x npx vitest run test/web/going-on`. */
const PICTURES = process.env['PICTURES']

describe.skipIf(!existsSync(CHROMIUM))('going on with a session, in the app', () => {
  let browser: Browser
  let daemon: AppDaemon
  let tab: AppTab
  let page: Page

  /** A session of twelve turns, of which the last call was never answered and a picture is none; and one whose folder is gone. */
  async function prepare(claudeDir: string): Promise<void> {
    const cwd = join(claudeDir, '..', 'work')
    mkdirSync(cwd, { recursive: true })
    const make = createLines({ cwd })
    const turns = Array.from({ length: 12 }, (_none, at) => [
      make.prompt(`Question ${at + 1}`),
      make.reply([{ type: 'text', text: `Answer ${at + 1}` }]),
    ]).flat()
    const call = { type: 'tool_use', id: 'toolu_last', name: 'Bash', input: { command: 'sleep 9' } }
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' }
    const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'PGh0bWw+' } }
    const asked = make.prompt('', {
      message: { role: 'user', content: [{ type: 'text', text: 'And now?' }, picture] },
    })
    const lines = [...turns, asked, make.reply([thinking]), make.reply([call])]
    await writeTranscript(claudeDir, toJsonl(lines))
    const gone = createLines({ sessionId: MOVED, cwd: '/gone/for/good' })
    const said = [gone.prompt('Where are we?'), gone.reply([{ type: 'text', text: 'Nowhere.' }])]
    await writeTranscript(claudeDir, toJsonl(said), { id: MOVED, project: '-gone-for-good' })
  }

  beforeAll(async () => {
    browser = await launchBrowser()
    daemon = await openAppDaemon(prepare)
  })
  afterAll(async () => {
    await browser.close()
    await daemon.close()
  })
  beforeEach(async () => {
    tab = await openTab(browser, daemon, { viewport: { width: 1280, height: 1400 } })
    page = tab.page
  })
  afterEach(async () => {
    await tab.close()
    if (tab.trouble.length > 0) throw new Error(tab.trouble.join('\n'))
  })

  const panel = (): Locator => page.locator('.going-on')

  async function look(session: string, name: string): Promise<void> {
    await tab.go(`#session=${session}&show=facts`)
    await panel().getByRole('heading', { name: 'Room in the window' }).waitFor()
    if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `${name}.png`) })
  }

  async function lineageOf(session: string): Promise<readonly unknown[]> {
    return list(await daemon.ask(`/api/sessions/${session}/lineage`), 'to')
  }

  test('[GON1] what would fail the next request is named where it stands, and mended on a copy', async () => {
    await look(SESSION, 'troubles')
    await panel().getByText('1 thing would fail it').waitFor()
    const link = panel().getByRole('link', { name: 'what is called image/png is no picture' })
    expect(await link.getAttribute('href')).toContain(`session=${SESSION}`)
    await panel().getByRole('button', { name: 'Mend it on a copy' }).click()
    await page.waitForFunction((before) => !location.hash.includes(before), SESSION)
    const copy = string((await lineageOf(SESSION))[0], 'sessionId') ?? '?'
    expect(page.url()).toContain(copy)
    await page.getByText('And now?').first().waitFor()
    await look(copy, 'mended')
    await panel().getByText('Nothing would fail it.').waitFor()
    const kin = panel().getByRole('link', { name: 'a session of Claude Code' })
    expect(await kin.getAttribute('href')).toContain(SESSION)
  })

  test('[GON2] a compaction says what it left out, leads to each turn in full, and is taken back', async () => {
    await look(SESSION, 'room')
    await panel().getByRole('button', { name: 'Compact it' }).click()
    const back = panel().getByRole('button', { name: 'Take the compaction back' })
    await back.waitFor()
    await panel().getByText('3 turns summarised, 10 word by word').click()
    if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, 'compacted.png') })
    await panel().getByRole('link', { name: 'Turn 2, in full' }).click()
    await page.getByText('Answer 2', { exact: true }).waitFor()
    await look(SESSION, 'back')
    await back.click()
    await panel().getByRole('button', { name: 'Compact it' }).waitFor()
  })

  test('[GON3] in another agent: what is lost is told first, then the session is written and leads on', async () => {
    await look(SESSION, 'agents')
    await panel().getByRole('button', { name: 'Codex', exact: true }).click()
    await panel().getByText('not carried as they were').waitFor()
    const sessions = join(daemon.dir, '.codex/sessions')
    expect(existsSync(sessions)).toBe(false)
    if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, 'losses.png') })
    await panel().getByRole('button', { name: 'Write it as a session of Codex' }).click()
    await panel().getByText('codex resume').waitFor()
    const files = readdirSync(sessions, { recursive: true, encoding: 'utf8' })
    expect(files.filter((name) => name.endsWith('.jsonl'))).toHaveLength(1)
    await panel().getByRole('link', { name: 'Open it here' }).click()
    await page.getByText('Answer 12', { exact: true }).waitFor()
  })

  test('[GON3] a session whose folder is gone goes on in the one that is named', async () => {
    await look(MOVED, 'folder')
    const claude = panel().getByRole('button', { name: 'Claude Code', exact: true })
    expect(await claude.isDisabled()).toBe(true)
    await panel().getByLabel('Go on in this one').fill(join(daemon.dir, 'work'))
    await claude.click()
    await panel().getByText('a line is added that names the new folder').waitFor()
  })

  test('[GON4] the panel fits a phone, and axe finds nothing serious in it', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width: 360, height: 740 })
      await look(SESSION, `phone-${colorScheme}`)
      await panel().getByRole('button', { name: 'Codex', exact: true }).click()
      await panel().getByText('not carried as they were').waitFor()
      expect(await findAxeFaults(page, '.going-on')).toEqual([])
    }
  })
})
