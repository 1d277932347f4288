import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openTempDir, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findOpencodeModel } from './opencode-model.ts'

let dir: TempDir
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(() => dir.remove())

function put(place: string, text: string): void {
  const path = join(dir.path, place)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const find = (env: Record<string, string> = {}): string | undefined =>
  findOpencodeModel({ env, homeDir: dir.path, workdir: join(dir.path, 'work/deep') })

test('[NAT13] the model of opencode is that of its settings, the nearest first, else the one that was used last', () => {
  expect(find()).toBeUndefined()
  put('.local/state/opencode/model.json', '{"recent":[{"providerID":"last","modelID":"used/one"}]}')
  expect(find()).toBe('last/used/one')
  put('.config/opencode/opencode.json', '{"model":"all/of-them"}')
  expect(find()).toBe('all/of-them')
  const commented = '{\n // "model": "no/this",\n "$schema": "https://x/y", /* nor */ "model": "this/one",\n}'
  put('work/opencode.jsonc', commented)
  // Not a folder of the same repository, yet.
  expect(find()).toBe('all/of-them')
  mkdirSync(join(dir.path, 'work/.git'))
  expect(find()).toBe('this/one')
  put('work/deep/opencode.json', '{"model":7}')
  expect(find()).toBe('this/one')
  expect(find({ OPENCODE_CONFIG_CONTENT: '{"model":"said/here"}' })).toBe('said/here')
})

test('[NAT13] settings that make no sense name no model', () => {
  put('.local/state/opencode/model.json', '{"recent":[{"providerID":"","modelID":"x"}]}')
  put('.config/opencode/opencode.json', '{"model":"no-provider"')
  expect(find()).toBeUndefined()
  put('.config/opencode/opencode.json', '{"model":"no-provider"}')
  expect(find()).toBeUndefined()
})
