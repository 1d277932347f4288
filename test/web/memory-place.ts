import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { string } from '#base'
import type { AppDaemon } from './app-browser.ts'

/** What tests of memory do to a daemon beside looking at its pages. */
export interface MemoryPlace {
  readonly folder: string
  post(path: string, body: object): Promise<unknown>
  /** Remembers something, and gives its id. */
  remember(content: string, more?: object): Promise<string>
  /** Starts a session that says something, and waits until it has. */
  say(prompt: string, more?: object): Promise<string>
  endAll(): Promise<void>
}

export function createMemoryPlace(daemon: AppDaemon): MemoryPlace {
  const folder = join(daemon.dir, 'work', 'tides')
  mkdirSync(folder, { recursive: true })

  return {
    folder,
    post: (path, body) => daemon.tell(path, body),
    async remember(content, more = {}) {
      const outcome = await daemon.tell('/api/documents', { content, workdir: folder, ...more })
      return idOf(outcome)
    },
    async say(prompt, more = {}) {
      const sessionId = crypto.randomUUID()
      const blocks = [{ kind: 'text', text: prompt }]
      const view = await daemon.tell('/api/sessions', {
        agent: 'scripted',
        workdir: folder,
        sessionId,
        wakeUp: false,
        prompt: { id: crypto.randomUUID(), blocks },
        ...more,
      })
      expect(view).toMatchObject({ sessionId })
      return sessionId
    },
    async endAll() {
      for (const id of await daemon.liveIds()) await daemon.tell(`/api/sessions/${id}/end`)
    },
  }
}

function idOf(outcome: unknown): string {
  const document: unknown =
    typeof outcome === 'object' && outcome !== null && 'document' in outcome ? outcome.document : undefined
  const id = string(document, 'id')
  if (id === undefined) throw new Error(`nothing was remembered: ${JSON.stringify(outcome)}`)
  return id
}

/** Selects the whole of an element, as a person does with the mouse. */
export async function select(page: Page, selector: string): Promise<void> {
  await page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const range = document.createRange()
      range.selectNodeContents(element)
      const selection = document.getSelection()
      selection?.removeAllRanges()
      selection?.addRange(range)
    })
}
