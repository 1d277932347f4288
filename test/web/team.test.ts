import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { list, string } from '#base'
import {
  createLines,
  openPostgresServer,
  ownsPostgresServer,
  SESSION,
  toJsonl,
  writeTranscript,
  type PostgresServer,
} from '#testing'
import { initTeam, openTeamBook, toPostgresAddress } from '#store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CHROMIUM,
  launchBrowser,
  openAppDaemon,
  openTab,
  tellNothing,
  type AppDaemon,
  type AppTab,
} from './app-browser.ts'
import { findAxeFaults } from './axe.ts'

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
const WAIT = { timeout: 120_000 }
/** Where a person wants to look at it: `PICTURES=/tmp/x npx vitest run test/web/team`. */
const PICTURES = process.env['PICTURES']

describe.skipIf(!existsSync(CHROMIUM))('two machines, in a browser', () => {
  let server: PostgresServer
  let browser: Browser
  let desk: AppDaemon
  let laptop: AppDaemon
  let tab: AppTab

  /** The address of a further machine of the same person. */
  async function admit(address: string, machine: string): Promise<string> {
    const book = await openTeamBook({ address: toPostgresAddress(address) })
    const invitation = await book.invite({ person: 'ada' })
    await book.close()
    const invited = await openTeamBook({ address: invitation.address })
    const joined = await invited.join(machine)
    await invited.close()
    return joined.reveal()
  }

  beforeAll(async () => {
    server = await openPostgresServer({ own: true })
    browser = await launchBrowser()
    const owner = toPostgresAddress(await server.createDatabase())
    const first = await initTeam({ address: owner, team: 'harbour', person: 'ada', machine: 'desk' })
    const second = await admit(first.reveal(), 'laptop')
    desk = await openAppDaemon(
      async (claudeDir) => {
        tellNothing(claudeDir)
        const cwd = join(claudeDir, '..', 'shop')
        mkdirSync(cwd, { recursive: true })
        const make = createLines({ cwd })
        const lines = [
          make.prompt('Paint the shop green.'),
          make.reply([{ type: 'text', text: 'Done: it is green.' }]),
        ]
        await writeTranscript(claudeDir, toJsonl(lines))
      },
      { THROUGHLINE_STORE: first.reveal() },
    )
    laptop = await openAppDaemon(
      (claudeDir) => {
        mkdirSync(join(claudeDir, 'projects'), { recursive: true })
        tellNothing(claudeDir)
      },
      { THROUGHLINE_STORE: second },
    )
    tab = await openTab(browser, laptop)
  })
  afterAll(async () => {
    for (const id of await desk.liveIds()) await desk.tell(`/api/sessions/${id}/end`)
    await tab?.close()
    await browser?.close()
    await laptop?.close()
    await desk?.close()
    await server?.close()
  })

  async function picture(name: string, page = tab.page): Promise<void> {
    if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `${name}.png`) })
  }

  test('[TEA104] a session of the desk stands in the list of the laptop with where it is, and reads as it does there', async () => {
    const { page } = tab
    const row = page.locator('.session-row').filter({ hasText: 'Paint the shop green.' })
    await row.waitFor(WAIT)
    expect(await row.locator('.badge.elsewhere').innerText()).toBe('desk')
    await row.locator('.session-link').click()
    await page.getByText('Done: it is green.').waitFor(WAIT)
    expect(await page.locator('.session-header .badge.elsewhere').innerText()).toBe('desk')
    // What is written there while one looks comes in.
    const make = createLines({ cwd: join(desk.dir, 'shop') })
    const more = make.reply([{ type: 'text', text: 'And the door is red.' }])
    const [session] = list(await desk.ask('/api/sessions'), 'sessions')
    writeFileSync(string(session, 'path') ?? '', toJsonl([more]), { flag: 'a' })
    await page.getByText('And the door is red.').waitFor(WAIT)
    await picture('session')
    await tab.go(`#session=${SESSION}&show=facts`)
    await page.getByRole('button', { name: 'Continue here' }).waitFor(WAIT)
    await picture('facts')
    expect(tab.trouble).toEqual([])
  })

  test('[TEA105] what the desk asks is asked on the laptop, and answered from there', async () => {
    const { page } = tab
    const id = crypto.randomUUID()
    const workdir = join(desk.dir, 'shop')
    const text = '[[tool Bash {"command":"echo painted"}]] [[say All painted.]]'
    await desk.tell('/api/sessions', {
      agent: 'scripted',
      workdir,
      sessionId: id,
      prompt: { id: crypto.randomUUID(), blocks: [{ kind: 'text', text }] },
    })
    await page.waitForFunction(() => document.title.startsWith('(1)'), undefined, WAIT)
    await tab.go('#board')
    const card = page.locator('.board-group.waiting .board-card')
    await card.getByText('desk').first().waitFor(WAIT)
    await card.getByLabel('command', { exact: true }).getByText('echo painted').waitFor(WAIT)
    await picture('board')
    await card.getByRole('button', { name: /^Allow once/ }).click()
    await expect.poll(async () => list(await desk.ask('/api/attentions'), 'attentions').length, WAIT).toBe(0)
    const audit = JSON.stringify(await desk.ask(`/api/sessions/${id}/audit`))
    expect(audit).toContain('laptop')
    await tab.go(`#session=${id}`)
    await page.locator('.passage-reply').getByText('All painted.').first().waitFor(WAIT)
    await picture('live')
    expect(tab.trouble).toEqual([])
  })

  test('[TEA106] the page of the team says how it stands; a session is shared and taken back among its facts', async () => {
    const { page } = tab
    await tab.go('#team')
    await page.getByText('Connected.').waitFor(WAIT)
    await page.getByText('ada, admin of harbour, on laptop').waitFor()
    await page.getByText('Nothing. A session is shared among its facts').waitFor()
    await picture('team')
    expect(await findAxeFaults(page)).toEqual([])
    await tab.go(`#session=${SESSION}&show=facts`)
    await page.getByRole('button', { name: 'Share it with the team' }).click()
    await page.getByRole('button', { name: 'Take it back' }).waitFor(WAIT)
    await tab.go('#team')
    await page.getByRole('button', { name: /^Take back/ }).click()
    await page.getByText('Nothing. A session is shared among its facts').waitFor(WAIT)
    expect(tab.trouble).toEqual([])
    const phone = await openTab(browser, laptop, PHONE)
    await phone.go('#team')
    await phone.page.getByText('Connected.').waitFor(WAIT)
    await picture('team-phone', phone.page)
    expect(await findAxeFaults(phone.page)).toEqual([])
    const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
    expect(await phone.page.evaluate(overflow)).toBe(false)
    await phone.close()
  })

  test.runIf(ownsPostgresServer())(
    '[TEA106] while the database is away the app says so and works on',
    async () => {
      const { page } = tab
      // The page is open when the database stops, and stays open until it is back.
      await tab.go('#team')
      await page.getByText('Connected.').waitFor(WAIT)
      await server.stopImmediately()
      await page.getByText('The database does not answer.').waitFor(WAIT)
      await picture('team-away')
      await tab.go(`#session=${SESSION}`)
      await page.getByText('Done: it is green.').waitFor(WAIT)
      await tab.go('#team')
      await page.getByText('The database does not answer.').waitFor(WAIT)
      await server.start()
      await page.getByText('Connected.').waitFor(WAIT)
      expect(string(await laptop.ask('/api/team'), 'state')).toBe('connected')
    },
  )
})
