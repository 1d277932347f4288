import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openThroughline } from '#app'
import { textOf, type SessionSummary } from '#model'
import { openTempDir, type TempDir } from '#testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

type Opened = Awaited<ReturnType<typeof openThroughline>>

/** Real threads of which a person took something back: their lines, what was taken back, and what is left. */
const THREADS = [
  {
    fixture: 'reverted-forked-archived',
    id: '01a1e439-0e1e-7680-a531-1c93fb6f6890',
    lines: 72,
    files: [
      'rollout-2026-11-16T11-58-26-01a1e439-0e1e-7680-a531-1c93fb6f6890',
      'rollout-2026-11-16T11-58-27-01a1e439-0e1e-7680-a531-1c93fb6f6890_01a1e439-1058-78f0-871d-82c82709f84a',
      'rollout-2026-11-16T11-58-27-01a1e439-0e1e-7680-a531-1c93fb6f6890_01a1e439-1109-7d83-a556-59fb4cb3880d',
    ].map((name) => `sessions/2026/11/16/${name}.jsonl`),
    takenBack: ['Three', 'After revert'],
    left: ['One', 'Two TWOCALLS', 'After second revert'],
    words: '"Answer 4"',
    usage: { input: 1272, cacheRead: 6000, output: 25 },
  },
  {
    fixture: 'version-0.104-rollback-fork',
    id: '01a1f09e-4fe4-7fa0-893c-f0ffd3666d93',
    lines: 42,
    files: ['sessions/2026/11/18/rollout-2026-11-18T21-44-29-01a1f09e-4fe4-7fa0-893c-f0ffd3666d93.jsonl'],
    takenBack: ['Second question'],
    left: ['What does the file say?', 'Third question'],
    words: '"to Second question"',
    usage: { input: 2000, cacheRead: 2400, output: 50 },
  },
] as const

describe.each(THREADS)('what was taken back of $fixture', ({ fixture, id, ...expected }) => {
  let dir: TempDir
  let codexHome: string
  const opened: Opened[] = []
  let session: SessionSummary
  beforeAll(async () => {
    dir = await openTempDir()
    codexHome = join(dir.path, 'codex')
    cpSync(join(import.meta.dirname, 'fixtures/codex', fixture), codexHome, { recursive: true })
    const env = { CODEX_HOME: codexHome, THROUGHLINE_HOME: join(dir.path, 'home'), HOME: dir.path }
    const indexed = await openThroughline({ env, index: true })
    opened.push(await openThroughline({ env }), indexed)
    while ((await indexed.health()).index.state !== 'complete') await indexed.settled()
    const found = (await indexed.list()).sessions.find((each) => each.id === id)
    if (found === undefined) throw new Error(`${id} is not listed`)
    session = found
  })
  afterAll(async () => {
    for (const each of opened) await each.close()
    await dir.remove()
  })

  test('[CDX18] is exported line by line', async () => {
    const [throughline] = opened
    const chunks: Uint8Array[] = []
    for await (const chunk of throughline?.bytes(session) ?? []) chunks.push(chunk)
    const own = expected.files.map((file) => readFileSync(join(codexHome, file), 'utf8')).join('')
    expect(Buffer.concat(chunks).toString()).toBe(own)
    expect(own.trimEnd().split('\n')).toHaveLength(expected.lines)
  })

  test('[CDX18] is shown beside the conversation, and is a branch of it in the digest', async () => {
    for (const throughline of opened) {
      const digest = await throughline.digest(session)
      expect(digest.facts).toMatchObject({ lines: expected.lines, branches: expected.takenBack.length })
      expect(digest.branches.map(({ text }) => text)).toEqual(expected.takenBack)
      const prompts = digest.outline.flatMap((point) => (point.kind === 'prompt' ? [point] : []))
      expect(prompts.filter(({ offPath }) => offPath).map(({ text }) => text)).toEqual(expected.takenBack)
      expect(prompts.filter(({ offPath }) => !offPath).map(({ text }) => text)).toEqual(expected.left)
      const shown: string[] = []
      for await (const passages of throughline.passages(session))
        for (const passage of passages)
          if (passage.kind === 'prompt' && passage.offPath) shown.push(textOf(passage.blocks))
      expect(shown).toEqual(expected.takenBack)
    }
  })

  test('[CDX18] is found and billed', async () => {
    for (const throughline of opened) {
      const { hits } = await throughline.search({ q: expected.words, limit: 9 })
      expect(hits.map((hit) => hit.session.id)).toContain(id)
      const { rows } = await throughline.usage({ by: 'session' })
      expect(rows.find(({ key }) => key === id)?.usage).toMatchObject(expected.usage)
    }
    const counts = (await opened[1]?.list())?.sessions.find((each) => each.id === id)?.counts
    expect(counts?.usage).toMatchObject(expected.usage)
  })

  test('[CDX18] is neither restored nor missed by a check', async () => {
    for (const throughline of opened) {
      const entries = await throughline.conversation(session)
      const prompts = entries.flatMap((entry) => (entry.kind === 'prompt' ? [textOf(entry.blocks)] : []))
      expect(prompts).toEqual(expected.left)
      const { findings } = await throughline.check(session)
      const notes = findings.filter(({ code }) => code !== 'workdir-gone')
      expect(notes.map(({ code }) => code)).toEqual(expected.takenBack.map(() => 'branch'))
      const { messages } = await throughline.restoring.restore(session.id, 'anthropic')
      expect(JSON.stringify(messages)).not.toContain(expected.takenBack[0])
    }
  })
})
