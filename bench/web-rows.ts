import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium, type Browser, type Page } from 'playwright-core'
import { list, number } from '#base'
import type { CorpusSession } from '#testing'
import type { Bench } from './bench.ts'
import { hold, missing } from './comparison.ts'
import { startSettled, type Daemon } from './daemon.ts'
import { mb, ms, times, type Row } from './table.ts'

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const FLAGS =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'
const OPENS = 7
const WHEELS = 240
/** A screen that shows sixty pictures a second. */
const FRAME_MS = 1000 / 60

/** The app in a real browser, over a daemon whose index is complete. */
export async function webRows({ facts, ground }: Bench): Promise<readonly Row[]> {
  if (!existsSync(CHROMIUM)) return [missing('web app', new Error('no Chromium: npm test installs one'))]
  const place = ground()
  const daemon = await startSettled(place)
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS.split(' ') })
  try {
    return await measure(browser, daemon, facts.biggest, place.small)
  } catch (error) {
    return [missing('web app', error)]
  } finally {
    await browser.close()
    await daemon.stop()
  }
}

async function measure(
  browser: Browser,
  daemon: Daemon,
  biggest: CorpusSession,
  small: CorpusSession,
): Promise<readonly Row[]> {
  const url = `http://127.0.0.1:${daemon.port}`
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  // The token of the machine itself: logging in is not what is measured.
  await context.addInitScript((token) => localStorage.setItem('throughline.token', token), daemon.token)
  const page = await context.newPage()
  const first = await timeOf(page, () => page.goto(`${url}/#`), '.session-link')
  const again = median(await repeat(5, () => timeOf(page, () => page.reload(), '.session-link')))
  const bigs: number[] = []
  const smalls: number[] = []
  for (let round = 0; round < OPENS; round++) {
    bigs.push(await openSession(page, biggest.id))
    smalls.push(await openSession(page, small.id))
  }
  const [big, little] = [median(bigs), median(smalls)]
  await openSession(page, biggest.id)
  const scroll = await scrollUp(page)
  return [
    hold({
      name: 'web: page load to the list, empty cache',
      value: first,
      show: ms,
      most: 1000,
      against: `again ${ms(again)}`,
      ratio: times(first / again),
    }),
    hold({
      name: `web: click to the last page of ${mb(biggest.bytes)} on screen`,
      value: big,
      show: ms,
      most: 1.5 * little,
      against: `of ${mb(small.bytes)} ${ms(little)}`,
      ratio: times(big / little),
      note: `median of ${OPENS}, address set to next frame`,
    }),
    hold({
      name: `web: frame while scrolling up ${mb(biggest.bytes)}: p50`,
      value: scroll.p50,
      show: ms,
      most: 1.5 * FRAME_MS,
      against: `screen ${ms(FRAME_MS)}`,
      ratio: times(scroll.p50 / FRAME_MS),
      note: `p95 ${ms(scroll.p95)}, p99 ${ms(scroll.p99)}, longest ${ms(scroll.longest)} of ${scroll.frames}; ${mb(scroll.passed)} passed; browser, daemon and bench share the cores, no GPU`,
    }),
    hold({
      name: 'web: elements in the document while scrolling',
      value: scroll.elements,
      show: (value) => String(value),
      most: 20_000,
      against: `at the end ${scroll.elementsBefore}`,
      ratio: times(scroll.elements / scroll.elementsBefore),
    }),
  ]
}

async function openSession(page: Page, id: string): Promise<number> {
  await page.evaluate(`location.hash = '#usage'`)
  await page.waitForSelector('.conversation', { state: 'detached' })
  await sleep(150)
  const taken: unknown = await page.evaluate(
    (to) =>
      new Promise((resolve) => {
        const begun = performance.now()
        location.hash = `#session=${to}`
        const look = (): void => {
          if (document.querySelector('.conversation-row') === null) requestAnimationFrame(look)
          else requestAnimationFrame(() => resolve(performance.now() - begun))
        }
        requestAnimationFrame(look)
      }),
    id,
  )
  return typeof taken === 'number' ? taken : Number.NaN
}

interface Scroll {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly longest: number
  readonly frames: number
  readonly passed: number
  readonly elements: number
  readonly elementsBefore: number
}

/** A person who turns the wheel for some seconds. */
async function scrollUp(page: Page): Promise<Scroll> {
  const count = async (): Promise<number> =>
    Number(await page.evaluate(`document.querySelectorAll('*').length`))
  const place = async (): Promise<number> =>
    Number(await page.evaluate(`document.querySelector('[data-offset]')?.dataset.offset ?? 0`))
  await sleep(500)
  const [elementsBefore, from] = [await count(), await place()]
  await page.locator('.conversation').hover()
  await page.evaluate(
    `globalThis.benchFrames = []; (function next(at) { benchFrames.push(at); requestAnimationFrame(next) })(performance.now())`,
  )
  let elements = elementsBefore
  for (let turn = 0; turn < WHEELS; turn++) {
    await page.mouse.wheel(0, -500)
    await sleep(16)
    if (turn % 30 === 29) elements = Math.max(elements, await count())
  }
  const frames = list({ frames: await page.evaluate('benchFrames') }, 'frames')
  const moments = frames.map((at) => number({ at }, 'at') ?? 0)
  const gaps = moments
    .slice(1)
    .map((at, n) => at - (moments[n] ?? 0))
    .toSorted((a, b) => a - b)
  const at = (part: number): number => gaps[Math.min(gaps.length - 1, Math.floor(part * gaps.length))] ?? 0
  return {
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    longest: at(1),
    frames: gaps.length,
    passed: from - (await place()),
    elements,
    elementsBefore,
  }
}

async function timeOf(page: Page, begin: () => Promise<unknown>, selector: string): Promise<number> {
  const start = performance.now()
  await begin()
  await page.waitForSelector(selector)
  return performance.now() - start
}

async function repeat(count: number, once: () => Promise<number>): Promise<readonly number[]> {
  const all: number[] = []
  for (let n = 0; n < count; n++) all.push(await once())
  return all
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
