import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, parseJson } from '#base'
import {
  canBeRead,
  generateCorpus,
  openTempDir,
  plantSecrets,
  SECRET_FORMS,
  type PlantedSecret,
  type SecretForm,
} from '#testing'
import { describe, expect, test } from 'vitest'
import { findSecrets } from './find-secrets.ts'
import { redact } from './redact.ts'

/** Whether eight characters in a row of what makes it secret can still be read. */
function escapes(planted: PlantedSecret, form: SecretForm, index: number): boolean {
  return canBeRead(planted, form, form.read(redact(form.write(planted, index)).text))
}

describe('secrets that were planted', () => {
  const planted = plantSecrets(46, 200)

  test.each(SECRET_FORMS)('[RED1] [RED2] [RED3] [RED18] [RED19] in the form of $name are masked', (form) => {
    const missed = planted.filter((secret, index) => escapes(secret, form, index))
    const issued = missed.filter(({ sort }) => sort === 'issued')
    expect(issued.map(({ kind }) => kind)).toEqual([])
    expect(missed.length).toBeLessThanOrEqual(planted.length * 0.05)
  })

  test('[RED1] and named for what they are', () => {
    const kinds = planted.slice(0, 30).map(({ secret, kind }) => [kind, findSecrets(secret)[0]?.kind])
    expect(Object.fromEntries(kinds)).toMatchObject({
      'aws-key': 'aws-key',
      'github-fine': 'github-token',
      anthropic: 'anthropic-key',
      'openssh-key': 'private-key',
      'json-web-token': 'json-web-token',
    })
  })
})

function* leavesOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const item of value) yield* leavesOf(item)
  else if (isObject(value)) for (const [, held] of Object.entries(value)) yield* leavesOf(held)
}

async function readLeaves(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir, { recursive: true })
  const files = names.filter((name) => /\.(?:jsonl|ts|md)$/.test(name) && !/planted|node_modules/.test(name))
  const leaves: string[] = []
  for (const name of files) {
    const text = await readFile(join(dir, name), 'utf8')
    if (!name.endsWith('.jsonl')) leaves.push(...text.split(/\n{2,}/))
    else for (const line of text.split('\n')) leaves.push(...leavesOf(parseJson(line)))
  }
  return leaves.filter((leaf) => leaf.length > 20)
}

describe('ordinary text', () => {
  test.each(['test/fixtures/claude', 'src', 'docs'])('[RED4] in %s is left alone', async (dir) => {
    const leaves = await readLeaves(join(import.meta.dirname, '../..', dir))
    const touched = leaves.filter((leaf) => findSecrets(leaf).length > 0)
    expect(leaves.length).toBeGreaterThan(300)
    expect(touched.length / leaves.length).toBeLessThan(0.01)
  })

  test('[RED4] in a generated corpus is left alone', async () => {
    const temp = await openTempDir()
    try {
      await generateCorpus({ dir: temp.path, seed: 7, size: 'xs' })
      const leaves = await readLeaves(temp.path)
      const touched = leaves.filter((leaf) => findSecrets(leaf).length > 0)
      expect(touched.length / leaves.length).toBeLessThan(0.01)
    } finally {
      await temp.remove()
    }
  })
})
