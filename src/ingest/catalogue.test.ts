import { appendFileSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClaudeSource, type Source } from '#sources'
import { createLines, openTempDir, toJsonl, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openCatalogue, type Catalogue } from './catalogue.ts'
import type { CatalogueChange } from './catalogue-row.ts'

const ID = 'aaaaaaaa-0000-4000-8000-000000000001'
const lines = createLines({ sessionId: ID })
const prompt = (text: string): string => toJsonl([lines.prompt(text)])

let dir: TempDir
let subagent = ''
let changes: CatalogueChange[] = []
beforeEach(async () => {
  dir = await openTempDir()
  changes = []
  const project = join(dir.path, 'projects', '-work')
  subagent = join(project, ID, 'subagents', 'agent-a1b2c3d4e5f6a7b8c.jsonl')
  mkdirSync(join(subagent, '..'), { recursive: true })
  writeFileSync(join(project, `${ID}.jsonl`), prompt('hello'))
  writeFileSync(subagent, prompt('delegated'))
})
afterEach(() => dir.remove())

function open(source: Source = createClaudeSource(dir.path)): Promise<Catalogue> {
  return openCatalogue({
    sources: [{ source, isArchive: false }],
    rememberedPath: join(dir.path, 'catalogue.json'),
    liveOf: () => undefined,
    preferenceOf: () => ({ starred: false }),
    countsOf: () => undefined,
    onChange: (change) => changes.push(change),
    now: () => Date.now(),
  })
}

async function sweptSizes(catalogue: Catalogue): Promise<readonly (number | undefined)[]> {
  await catalogue.sweep()
  await catalogue.settled()
  return catalogue.sessions().flatMap(({ subagents }) => subagents.map(({ size }) => size))
}

test('[WAT5] what a subagent wrote before its folder was watched is found by the sweep, and told with its file', async () => {
  const catalogue = await open()
  appendFileSync(subagent, prompt('more'))
  expect(await sweptSizes(catalogue)).toEqual([statSync(subagent).size])
  expect(changes).toMatchObject([{ kind: 'changed', files: [subagent] }])
  expect(await sweptSizes(catalogue)).toEqual([statSync(subagent).size])
  expect(changes.length).toBe(1)
})

test('[WAT5] what a subagent wrote while nobody looked is found although its session is remembered', async () => {
  const before = await open()
  await before.remember()
  appendFileSync(subagent, prompt('more'))
  expect(await sweptSizes(await open())).toEqual([statSync(subagent).size])
})

test('[WAT5] a subagent whose file went is not shown any more', async () => {
  const catalogue = await open()
  rmSync(subagent)
  expect(await sweptSizes(catalogue)).toEqual([])
})

test('[ING1] a session whose folder had another name for the moment in which it was looked at is looked at again', async () => {
  const source = createClaudeSource(dir.path)
  const [project, other] = [join(dir.path, 'projects', '-work'), join(dir.path, 'elsewhere')]
  let isQuick = true
  const catalogue = await open({
    ...source,
    look(files) {
      // Another process is quicker: its name is known, and then it is away.
      if (isQuick) renameSync(project, other)
      isQuick = false
      return source.look(files)
    },
  })
  renameSync(other, project)
  await catalogue.sweep()
  await catalogue.settled()
  expect(catalogue.sessions()).toMatchObject([{ id: ID, state: 'ok', firstPrompt: 'hello' }])
  expect(catalogue.sessions()[0]?.createdAt).toBeDefined()
})

test('[ING30] what became known of one session costs as many looks among 400 as among 20', async () => {
  const looksFor = async (sessions: number): Promise<number> => {
    const root = join(dir.path, `of-${sessions}`)
    mkdirSync(join(root, 'projects', '-work'), { recursive: true })
    for (let n = 0; n < sessions; n++) {
      const id = `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, '0')}`
      writeFileSync(join(root, 'projects', '-work', `${id}.jsonl`), prompt(`hello ${n}`))
    }
    const source = createClaudeSource(root)
    let looks = 0
    let starred = false
    const catalogue = await openCatalogue({
      sources: [
        {
          source: {
            ...source,
            look(files) {
              const { id, ...rest } = source.look(files)
              return Object.defineProperty({ ...rest, id }, 'id', {
                enumerable: true,
                get: () => (looks++, id),
              })
            },
          },
          isArchive: false,
        },
      ],
      liveOf: () => undefined,
      preferenceOf: () => ({ starred }),
      countsOf: () => undefined,
      onChange: () => undefined,
      now: () => Date.now(),
    })
    looks = 0
    starred = true
    catalogue.refresh(['aaaaaaaa-0000-4000-8000-000000000007'])
    const changed = catalogue.sessions().filter((session) => session.starred === true)
    expect(changed.map(({ id }) => id)).toEqual(['aaaaaaaa-0000-4000-8000-000000000007'])
    catalogue.close()
    return looks
  }
  expect(await looksFor(400)).toBe(await looksFor(20))
})
