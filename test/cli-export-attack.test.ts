import type { Block, Passage, SessionSummary, ToolCall } from '#model'
import { toHtml } from '#render'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** Every payload sets `__pwned`, opens a dialog or asks the network when it comes alive. */
const PAYLOADS = [
  '<script>window.__pwned=1</script>',
  '</title><script>window.__pwned=1</script>',
  '</style><script>window.__pwned=1</script>',
  '--><script>window.__pwned=1</script>',
  '</pre></details><script>window.__pwned=1</script>',
  '"><script>window.__pwned=1</script>',
  "'><script>window.__pwned=1</script>",
  '<img src=x onerror=window.__pwned=1>',
  '<img/src="x"/onerror=window.__pwned=1>',
  '" onerror="window.__pwned=1',
  '" onload="window.__pwned=1" x="',
  "' onfocus='window.__pwned=1' autofocus='",
  '<svg onload=window.__pwned=1>',
  '<svg><script>window.__pwned=1</script></svg>',
  '<svg><animate onbegin=window.__pwned=1 attributeName=x dur=1s>',
  '<math><mtext><img src=x onerror=window.__pwned=1></mtext></math>',
  '<details open ontoggle=window.__pwned=1>',
  '<body onload=window.__pwned=1>',
  '<iframe srcdoc="<script>parent.__pwned=1</script>"></iframe>',
  '<iframe src="javascript:parent.__pwned=1"></iframe>',
  '<object data="data:text/html,<script>parent.__pwned=1</script>"></object>',
  '<embed src="https://evil.example/x">',
  '<link rel=stylesheet href=https://evil.example/x.css>',
  '<style>@import url(https://evil.example/x.css);body{background:url(https://evil.example/b)}</style>',
  '<meta http-equiv=refresh content="0;url=https://evil.example/">',
  '<base href="https://evil.example/">',
  '<form action="https://evil.example/"><input autofocus onfocus=window.__pwned=1></form>',
  '<video src=https://evil.example/v poster=https://evil.example/p onerror=window.__pwned=1 autoplay>',
  '<a href="javascript:window.__pwned=1">click</a>',
  '[click](javascript:window.__pwned=1)',
  '[click](data:text/html,<script>parent.__pwned=1</script>)',
  '![img](https://evil.example/p.png)',
  '[a](https://ok.example/" onmouseover="window.__pwned=1)',
  '```html\n<script>window.__pwned=1</script>\n```',
  '`<img src=x onerror=window.__pwned=1>`',
  '| <script>window.__pwned=1</script> |\n|---|\n| <img src=x onerror=window.__pwned=1> |',
  '&lt;script&gt;window.__pwned=1&lt;/script&gt;',
  '&#60;script&#62;window.__pwned=1&#60;/script&#62;',
  '\u0000<\u0000script>window.__pwned=1</script>',
  '<scr\u0000ipt>window.__pwned=1</scr\u0000ipt>',
  '\u202e<script>window.__pwned=1</script>',
  '${window.__pwned=1}{{constructor.constructor("window.__pwned=1")()}}',
  '<div style="position:fixed;inset:0;z-index:9999" id=prompt-1 class=prompt>Approve</div>',
  '<template><script>window.__pwned=1</script></template><noscript><img src=x onerror=window.__pwned=1></noscript>',
  'x'.repeat(100) + '<script>alert(1)</script>',
]

/** One session with the payload in every field that a transcript can fill. */
function infected(payload: string): {
  readonly session: SessionSummary
  readonly passages: readonly Passage[]
} {
  const text: Block = { kind: 'text', text: payload }
  const things: readonly Block[] = [
    text,
    { kind: 'image', source: { kind: 'base64', mediaType: payload, data: payload } },
    { kind: 'image', source: { kind: 'base64', mediaType: payload, data: `iVBORw0KGgo${payload}` } },
    { kind: 'image', source: { kind: 'url', url: payload } },
    { kind: 'document', title: payload, source: { kind: 'text', mediaType: payload, text: payload } },
    { kind: 'document', title: payload, source: { kind: 'url', url: payload } },
    { kind: 'unknown', value: { [payload]: payload } },
  ]
  const call = (name: string, input: unknown, state: ToolCall['state']): ToolCall => ({
    use: { kind: 'tool-use', id: `${payload}${name}`, name, input },
    state,
    result: { entryId: payload, content: things, isError: state === 'failed' },
  })
  const calls = [
    call(payload, { [payload]: payload }, 'failed'),
    call(`mcp__${payload}__${payload}`, { a: payload }, 'done'),
    call('Bash', { command: payload, description: payload }, 'done'),
    call('Edit', { file_path: payload, old_string: payload, new_string: `${payload}2` }, 'refused'),
    call('Write', { file_path: payload, content: payload }, 'done'),
    call('Agent', { subagent_type: payload, description: payload, prompt: payload }, 'done'),
  ]
  const thinking: Block = { kind: 'thinking', thinking: payload }
  const base = { id: payload, at: payload, entries: [] }
  const usage = {
    input: 1,
    output: 1,
    cacheRead: 0,
    cacheCreation: 0,
    cacheCreation5m: 0,
    cacheCreation1h: 0,
  }
  return {
    session: {
      id: payload,
      agent: payload,
      path: payload,
      size: 1,
      name: payload,
      workdirs: [payload, payload],
      workdirsComplete: true,
      gitBranch: payload,
      createdAt: payload,
      lastActivityAt: payload,
      subagents: [{ id: payload, path: payload, size: 1, agentType: payload, description: payload }],
      toolResults: [],
      archived: false,
      state: 'ok',
      facts: {
        lines: 1,
        entries: 1,
        prompts: 1,
        replies: 1,
        toolCalls: 1,
        turns: 1,
        compactions: 1,
        branches: 0,
        models: [payload],
        usage,
        inherited: usage,
        damage: [],
        unknownTypes: {},
      },
    },
    passages: [
      { kind: 'prompt', ...base, blocks: things, origin: 'person', midTurn: true },
      {
        kind: 'reply',
        ...base,
        model: payload,
        blocks: [text, thinking, ...things, ...calls.map(({ use }) => use)],
        calls,
        stopReason: payload,
        synthetic: false,
        apiError: true,
      },
      { kind: 'command', ...base, command: payload, args: payload, output: payload },
      {
        kind: 'compaction',
        ...base,
        compaction: { trigger: payload, tokensBefore: 1, tokensAfter: 1 },
        summary: [text],
      },
      { kind: 'notice', ...base, level: payload, text: payload },
      {
        kind: 'orphan',
        ...base,
        toolUseId: payload,
        answer: { entryId: payload, content: things, isError: true },
      },
    ],
  }
}

async function pageOf(payload: string): Promise<string> {
  const { session, passages } = infected(payload)
  async function* once(): AsyncGenerator<readonly Passage[]> {
    yield passages
  }
  let html = ''
  for await (const piece of toHtml({ session, passages: once(), subagent: once })) html += piece
  return html
}

/** Chromium from `CHROMIUM`, from the system, or installed now when we may. */
function findChromium(): string | undefined {
  const known = [
    process.env['CHROMIUM'],
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ]
  const find = (): string | undefined =>
    known.find((path) => path !== undefined && path !== '' && existsSync(path))
  if (find() === undefined && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    try {
      execFileSync('/usr/bin/apt-get', ['install', '-y', '-qq', 'chromium'], {
        stdio: 'ignore',
        timeout: 300_000,
      })
    } catch {
      return undefined
    }
  }
  return find()
}

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const executablePath = findChromium()
let browser: Browser
let folder: string

beforeAll(async () => {
  if (executablePath === undefined) return
  folder = await mkdtemp(join(tmpdir(), 'throughline-attack-'))
  browser = await chromium.launch({ executablePath, args: FLAGS })
}, 360_000)

afterAll(async () => {
  if (executablePath === undefined) return
  await browser.close()
  await rm(folder, { recursive: true, force: true })
})

interface Outcome {
  /** What ran, opened, or reached for the network. */
  readonly alive: readonly string[]
  /** Elements and attributes that have no business on the page. */
  readonly strange: unknown
  /** Requests that the policy of the page stopped. */
  readonly stopped: readonly string[]
  readonly shown: string
}

/** Opens the page, unfolds everything, hovers and clicks what can be clicked; gives what came alive. */
async function provoke(html: string): Promise<Outcome> {
  const file = join(folder, 'page.html')
  await writeFile(file, html)
  const alive: string[] = []
  const stopped: string[] = []
  const page: Page = await browser.newPage()
  page.on('request', (request) => {
    const url = request.url()
    if (url !== pathToFileURL(file).href && !url.startsWith('data:image/')) alive.push(`request ${url}`)
  })
  page.on('requestfailed', (request) => {
    if (request.failure()?.errorText === 'csp') stopped.push(`request ${request.url()}`)
  })
  page.on('dialog', (dialog) => {
    alive.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('popup', () => alive.push('popup'))
  await page.goto(pathToFileURL(file).href)
  await page.evaluate(`for (const fold of document.querySelectorAll('details')) fold.open = true`)
  await page.evaluate(`for (const link of document.querySelectorAll('a:not([href^="#"])')) {
    link.addEventListener('click', (event) => event.preventDefault()); link.dispatchEvent(new MouseEvent('mouseover')); link.click()
  }`)
  await page.waitForTimeout(20)
  if ((await page.evaluate('window.__pwned')) !== undefined) alive.push('script ran')
  const strange = await page.evaluate(`[...document.querySelectorAll('*')].flatMap((element) => [
    ...(/^(?:SCRIPT|IFRAME|OBJECT|EMBED|FORM|INPUT|LINK|BASE|SVG|MATH|VIDEO|AUDIO|TEMPLATE)$/i.test(element.tagName) ? [element.tagName] : []),
    ...element.getAttributeNames().filter((name) => /^on|^style$|srcdoc|^ping$/.test(name)),
  ]).concat(document.querySelectorAll('style').length === 1 ? [] : ['style'])`)
  const shown = String(await page.evaluate('document.body.innerText'))
  await page.close()
  return { alive, strange, stopped, shown }
}

test.skipIf(executablePath === undefined)(
  `[REND27] ${PAYLOADS.length} payloads in every field of a session: none comes alive in a browser`,
  async () => {
    for (const payload of PAYLOADS) {
      const { alive, strange, shown } = await provoke(await pageOf(payload))
      expect({ payload, alive, strange }).toEqual({ payload, alive: [], strange: [] })
      expect(shown).toContain('Exported by Throughline')
    }
  },
)

test.skipIf(executablePath === undefined)(
  '[REND29] even if every payload were written as it is, the policy of the page would stop its scripts and requests',
  async () => {
    const html = await pageOf('harmless')
    const poisoned = html.replace(
      '<main>',
      () => `<main>${PAYLOADS.filter((payload) => !payload.includes('refresh')).join('\n')}`,
    )
    const { alive, stopped } = await provoke(poisoned)
    expect(stopped.length).toBeGreaterThan(3)
    expect(alive.filter((event) => !stopped.includes(event))).toEqual([])
  },
)
