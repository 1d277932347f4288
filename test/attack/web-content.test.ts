import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { number } from '#base'
import { createLines, openTempDir, toJsonl } from '#testing'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CHROMIUM,
  launchBrowser,
  openAppDaemon,
  openTab,
  type AppDaemon,
  type AppTab,
} from '../web/app-browser.ts'
import { PAYLOADS } from './web-payloads.ts'

const root = join(import.meta.dirname, '..', '..')
const ALL = PAYLOADS.join('\n\n')
const FIRST = 'aaaaaaaa-1111-4000-8000-000000000000'

/** A session for every payload, with the payload in every field that is shown somewhere. */
function writeSessions(claudeDir: string): void {
  PAYLOADS.forEach((payload, n) => {
    const id = `${FIRST.slice(0, -3)}${String(n).padStart(3, '0')}`
    const cwd = `/home/${payload}`
    const make = createLines({ sessionId: id, cwd })
    const call = (name: string, input: object, at: number): object => ({
      type: 'tool_use',
      id: `toolu_${at}`,
      name,
      input,
    })
    const branch = { gitBranch: payload }
    const lines = [
      make.prompt(`${payload}\n\n${n === 0 ? ALL : ''}`, branch),
      make.reply(
        [
          { type: 'thinking', thinking: payload, signature: '' },
          { type: 'text', text: n === 0 ? ALL : payload },
        ],
        branch,
      ),
      make.reply([call('Bash', { command: payload, description: payload }, 1)], branch),
      make.result('toolu_1', `${payload}\nexit code 1`, { is_error: true, ...branch }),
      make.reply(
        [call('Edit', { file_path: `${cwd}/${payload}`, old_string: payload, new_string: `${payload}!` }, 2)],
        branch,
      ),
      make.result('toolu_2', payload, branch),
      make.reply([call(`mcp__${payload}__${payload}`, { [payload]: payload }, 3)], branch),
      make.result('toolu_3', payload, branch),
      make.reply(
        [call('Task', { description: payload, subagent_type: payload, prompt: payload }, 4)],
        branch,
      ),
      make.result('toolu_4', payload, { toolUseResult: { agentId: 'a1b2c3d4e5f6a7b8c' }, ...branch }),
      make.prompt('', {
        message: {
          role: 'user',
          content: [
            { type: 'text', text: payload },
            { type: 'image', source: { type: 'url', url: `http://evil.test/${n}.png` } },
            {
              type: 'image',
              source: {
                type: 'base64',
                media_type: 'image/svg+xml',
                data: Buffer.from(payload).toString('base64'),
              },
            },
            {
              type: 'document',
              title: payload,
              source: { type: 'text', media_type: 'text/html', data: payload },
            },
          ],
        },
      }),
      make.reply([], {
        message: {
          id: 'msg_last',
          role: 'assistant',
          model: payload,
          content: [{ type: 'text', text: payload }],
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      }),
      {
        type: 'system',
        subtype: 'api_error',
        level: 'error',
        content: payload,
        uuid: `00000000-0000-4000-8000-9${String(n).padStart(11, '0')}`,
        parentUuid: null,
        timestamp: '2026-11-15T09:00:00.000Z',
        sessionId: id,
      },
      { type: payload, value: payload, sessionId: id },
      { type: 'custom-title', customTitle: payload, sessionId: id },
    ]
    const path = join(claudeDir, 'projects', '-home-user-work', `${id}.jsonl`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${toJsonl(lines)}{"torn": "${payload.replaceAll(/["\n\\]/g, '')}\n`)
    const own = join(
      claudeDir,
      'projects',
      '-home-user-work',
      id,
      'subagents',
      'agent-a1b2c3d4e5f6a7b8c.jsonl',
    )
    mkdirSync(dirname(own), { recursive: true })
    writeFileSync(
      own,
      toJsonl([
        make.prompt(payload, { isSidechain: true }),
        make.reply([{ type: 'text', text: payload }], { isSidechain: true }),
      ]),
    )
  })
}

/** Everything that can be opened is opened. */
async function unfold(page: Page): Promise<void> {
  for (let n = 0; n < 4; n++) {
    await page.evaluate(() => {
      for (const one of document.querySelectorAll('details')) one.open = true
    })
    await page.waitForTimeout(60)
  }
}

describe.skipIf(!existsSync(CHROMIUM))('what sessions say, in a real browser', () => {
  let browser: Browser
  let daemon: AppDaemon
  beforeAll(async () => {
    browser = await launchBrowser()
    daemon = await openAppDaemon(writeSessions)
  })
  afterAll(async () => {
    await browser?.close()
    await daemon?.close()
  })

  async function openWatched(): Promise<{ tab: AppTab; ran: string[] }> {
    const tab = await openTab(browser, daemon)
    const ran: string[] = []
    await tab.page.exposeFunction('throughlineRan', () => ran.push('ran'))
    tab.page.on('dialog', (dialog) => {
      ran.push(dialog.message())
      void dialog.dismiss()
    })
    return { tab, ran }
  }

  const places = [
    ...PAYLOADS.map((_, n) => `#session=${FIRST.slice(0, -3)}${String(n).padStart(3, '0')}`),
    ...[0, 8, 20].map((n) => `#session=${FIRST.slice(0, -3)}${String(n).padStart(3, '0')}&show=facts`),
    '#usage',
    '#search=throughlineRan',
    '#search=evil.test',
    `#search=${encodeURIComponent('<img src=x onerror=throughlineRan()>')}`,
    '#',
  ]

  test('[ATT27] [ATT30] [ATT31] [ATT32] [B1.2] [WEB12] nothing in any field of a session runs, leads away or is asked for', async () => {
    const { tab, ran } = await openWatched()
    const { page } = tab
    for (const place of places) {
      await tab.go(place)
      await page.waitForTimeout(place.startsWith('#session') ? 150 : 500)
      await unfold(page)
      const found = await page.evaluate(() => {
        // The composer is the app's own: nothing that a session says can have its class.
        const inside = [...document.querySelectorAll('main *, nav *')].filter(
          (node) => !node.matches('form.composer'),
        )
        return {
          active: inside
            .filter((node) =>
              /^(?:script|iframe|object|embed|form|style|link|meta|base|video|audio|math|template)$/i.test(
                node.localName,
              ),
            )
            .map((node) => node.outerHTML.slice(0, 200)),
          handlers: inside.flatMap((node) =>
            node
              .getAttributeNames()
              .filter((name) => name.startsWith('on'))
              .map((name) => `${node.localName} ${name}`),
          ),
          links: inside
            .flatMap((node) => (node instanceof HTMLAnchorElement ? [node.getAttribute('href') ?? ''] : []))
            .filter((href) => !/^(?:#|https?:\/\/|mailto:)/.test(href)),
          images: inside
            .flatMap((node) => (node instanceof HTMLImageElement ? [node.src] : []))
            .filter((src) => !src.startsWith('blob:')),
          taken: document.querySelectorAll('#app').length,
        }
      })
      expect({ place, ...found }).toEqual({
        place,
        active: [],
        handlers: [],
        links: [],
        images: [],
        taken: 1,
      })
    }
    await page.keyboard.press('Control+k')
    await page.waitForTimeout(400)
    expect(ran).toEqual([])
    expect(tab.trouble).toEqual([])
    await tab.close()
  })

  test('[ATT28] [WEB12] with a renderer that takes text for markup, the policy of the page alone lets nothing run or leave', async () => {
    const site = await openTempDir()
    await build({
      configFile: join(root, 'vite.config.ts'),
      logLevel: 'silent',
      build: { outDir: site.path, emptyOutDir: true },
      plugins: [
        {
          name: 'careless',
          enforce: 'pre',
          load: (id) => (id.endsWith('/message/markdown.tsx') ? CARELESS : undefined),
        },
      ],
    })
    const { tab, ran } = await openWatched()
    const { page } = tab
    const left: string[] = []
    page.on('requestfinished', (request) => {
      if (!request.url().startsWith(daemon.url) && !request.url().startsWith('blob:'))
        left.push(request.url())
    })
    await page.route(`${daemon.url}/**`, async (route) => {
      const { pathname } = new URL(route.request().url())
      if (pathname.startsWith('/api/')) return await route.continue()
      const answer = await route.fetch({ url: `${daemon.url}/` })
      const headers = answer.headers()
      if (pathname === '/') {
        const nonce = /nonce-([^']+)/.exec(headers['content-security-policy'] ?? '')?.[1] ?? ''
        const html = await readFile(join(site.path, 'index.html'), 'utf8')
        return await route.fulfill({
          headers,
          body: html.replaceAll('<script', `<script nonce="${nonce}"`),
        })
      }
      // What the page fetches later may be asked for when the test is over.
      return await route.fulfill({ path: join(site.path, pathname) }).catch(() => {})
    })
    await page.goto(`${daemon.url}/#session=${FIRST}`)
    await page.reload()
    for (const place of places.filter((one) => one.startsWith('#session'))) {
      await tab.go(place)
      await page.waitForTimeout(120)
      await unfold(page)
    }
    const tried: unknown = await page.evaluate('careless')
    expect(number(tried, 'tries')).toBeGreaterThan(500)
    expect(number(tried, 'taken')).toBe(0)
    expect(ran).toEqual([])
    expect(left).toEqual([])
    await tab.close()
    await site.remove()
  })

  test('[ATT28] markup that stands in the page itself neither runs nor leaves', async () => {
    const { tab, ran } = await openWatched()
    const { page } = tab
    const left: string[] = []
    page.on('requestfinished', (request) => {
      if (!request.url().startsWith(daemon.url) && !request.url().startsWith('data:'))
        left.push(request.url())
    })
    let body = ''
    await page.route(`${daemon.url}/`, async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, body: `<!doctype html><body><p>bare</p>${body}</body>` })
    })
    for (const payload of PAYLOADS) {
      body = payload
      await page.goto(`${daemon.url}/`)
      await page.waitForTimeout(60)
    }
    expect(ran).toEqual([])
    expect(left).toEqual([])
    await tab.close()
  })
})

/** What somebody might write who never heard of any of this: every way there is to make markup of a text. */
const CARELESS = `
import { h } from 'preact'
globalThis.careless = { tries: 0, taken: 0 }
const WAYS = [
  (box, text) => { box.innerHTML = text },
  (box, text) => box.insertAdjacentHTML('beforeend', text),
  (box, text) => { box.append(document.createRange().createContextualFragment(text)) },
  (box, text) => { box.append(...new DOMParser().parseFromString(text, 'text/html').body.childNodes) },
  (box, text) => { box.setHTMLUnsafe(text) },
  (box, text) => { const frame = document.createElement('iframe'); frame.srcdoc = text; box.append(frame) },
  (box, text) => { const script = document.createElement('script'); script.text = 'throughlineRan()'; box.append(script) },
  (box, text) => { eval('throughlineRan()') },
]
export const Link = ({ children }) => h('span', null, children)
export function Markdown({ text }) {
  return h('div', { ref: (box) => {
    if (!box) return
    for (const way of WAYS) {
      globalThis.careless.tries++
      try { way(box, text); globalThis.careless.taken++ } catch {}
    }
  } })
}
`
