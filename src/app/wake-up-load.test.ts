import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countTokens, openDocuments, type Documents } from '#memory'
import { isWakeUp, type MemoryDocument } from '#model'
import { createLines, openTempDir, runs, toJsonl, writeTranscript, type TempDir } from '#testing'
import { openThroughline } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'
import { toCandidates } from './wake-up-candidates.ts'
import { createWakeUps, type WakeUps } from './wake-ups.ts'

const LEARNINGS = 5000
const MEGABYTES = 5

describe('much is remembered, and much was said', () => {
  let temp: TempDir
  let home: string
  let workdir: string
  let documents: Documents
  let throughline: LocalThroughline
  let wakeUps: WakeUps
  const read: string[] = []

  beforeAll(async () => {
    temp = await openTempDir()
    ;[home, workdir] = [join(temp.path, 'home'), join(temp.path, 'work')]
    for (const folder of [home, workdir]) mkdirSync(folder, { mode: 0o700 })
    let minted = 0
    documents = await openDocuments({ home, now: Date.now, mintId: () => `d${(minted += 1)}` })
    await documents.putAll(
      Array.from({ length: LEARNINGS }, (_, n) => ({
        type: 'learning',
        content: `Learning ${n} about part ${n % 97} of the harbour: ${'it is so. '.repeat(n % 40)}`,
        pinned: n % 500 === 0,
        ...(n % 7 === 0 ? { contradicts: [`d${n + 2}`] } : {}),
      })),
      { by: 'test' },
    )
    const lines = createLines({ cwd: workdir })
    const made: object[] = []
    for (let bytes = 0, n = 0; bytes < MEGABYTES * 1024 * 1024; n += 1) {
      const words = `Question ${n}, of part ${n % 97}: ${'what of the tide and the boats? '.repeat(20)}`
      const reply = [{ type: 'text', text: `Answer ${n}. ${'The tide is high. '.repeat(60)}` }]
      made.push(lines.prompt(words), lines.reply(reply))
      bytes += words.length + 1100
    }
    await writeTranscript(join(temp.path, 'claude'), toJsonl(made))
    throughline = await openThroughline({
      env: { HOME: temp.path },
      config: { home, claudeDir: join(temp.path, 'claude') },
    })
    wakeUps = createWakeUps({
      config: throughline.config,
      now: Date.now,
      documents: async () => documents,
      sessions: async () => (await throughline.list()).sessions,
      believes: () => true,
      passages(session) {
        read.push(session.id)
        return throughline.passages(session)
      },
      recall: async () => ({ hits: [] }),
    })
  })
  afterAll(async () => {
    await throughline.close()
    await documents.close()
    await temp.remove()
  })

  test('[WAK26] [B6.3] it is composed within the budget, and the session is read once', async () => {
    read.length = 0
    const prompt = 'What of part 42 of the harbour?'
    const { text, receipt } = await wakeUps.preview({ workdir, prompt })
    expect(read).toHaveLength(1)
    expect(isWakeUp(text)).toBe(true)
    expect(countTokens(text)).toBe(receipt.tokens)
    expect(receipt.tokens).toBeLessThanOrEqual(receipt.budget.total)
    expect(receipt.tokens).toBeGreaterThan(receipt.budget.total * 0.8)
    expect(receipt.documents.length + receipt.documentsLeft.length).toBe(LEARNINGS)
    const carried = receipt.documents.map(({ id }) => id)
    const pins = documents.query({ pinned: true }).map(({ id }) => id)
    expect(pins).toHaveLength(LEARNINGS / 500)
    expect(carried).toEqual(expect.arrayContaining(pins))
    expect(text).toContain('part 42')
    expect((await wakeUps.preview({ workdir, prompt })).text).toBe(text)
  })

  test('[WAK26] whatever the budget is, it is not exceeded by one token or character', async () => {
    const tokens = fc.integer({ min: 0, max: 3000 })
    await fc.assert(
      fc.asyncProperty(
        fc.record({ total: tokens, transcript: tokens, documents: tokens, item: tokens }),
        fc.integer({ min: 0, max: 12_000 }),
        async (budget, characters) => {
          writeFileSync(join(home, 'config.json'), JSON.stringify({ wakeUp: { budget } }))
          const { text } = await wakeUps.preview({ workdir })
          expect(countTokens(text)).toBeLessThanOrEqual(budget.total)
          const sessionId = `s${characters}`
          const hook = await wakeUps.elsewhere({
            sessionId,
            workdir,
            agent: 'claude',
            reason: 'compact',
            characters,
          })
          expect(hook.text.length).toBeLessThanOrEqual(characters)
          expect(countTokens(hook.text)).toBeLessThanOrEqual(budget.total)
        },
      ),
      runs(6),
    )
  })

  test('[WAK26] of so many no more files are looked at than can matter', async () => {
    const looked: string[] = []
    const bound = documents
      .query({})
      .map((document): MemoryDocument => ({ ...document, files: [{ path: `/${document.id}`, hash: '' }] }))
    await toCandidates(bound, {
      workdir,
      agent: 'claude',
      now: Date.now(),
      talk: [],
      carried: new Map(),
      async boundFile({ path }) {
        looked.push(path)
        return { path, state: 'gone' }
      },
    })
    expect(looked.length).toBeGreaterThan(0)
    expect(looked.length).toBeLessThanOrEqual(400)
  })
})
