import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expectError, openTempDir } from '#testing'
import { expect, onTestFinished, test } from 'vitest'
import { readConfigFile, writeConfigFile } from './config-file.ts'

async function openFolder(): Promise<string> {
  const temp = await openTempDir()
  onTestFinished(() => temp.remove())
  return temp.path
}

test('[CON6] what somebody else wrote meanwhile is not overwritten, and nothing is left lying about', async () => {
  const folder = await openFolder()
  const path = join(folder, 'settings')
  writeFileSync(path, 'before')
  const file = readConfigFile(path)
  writeFileSync(path, 'theirs')
  await expectError(
    Promise.resolve().then(() => writeConfigFile(file, 'ours')),
    'output-unwritable',
  )
  expect(readFileSync(path, 'utf8')).toBe('theirs')
  const none = readConfigFile(join(folder, 'none'))
  writeFileSync(none.path, 'theirs')
  await expectError(
    Promise.resolve().then(() => writeConfigFile(none, 'ours')),
    'output-unwritable',
  )
  expect(readdirSync(folder).toSorted()).toEqual(['none', 'settings'])
})

test('[CON6] a write that fails leaves the file as it was', async () => {
  const folder = await openFolder()
  const path = join(folder, 'locked', 'settings')
  mkdirSync(join(folder, 'locked'))
  writeFileSync(path, 'before')
  const file = readConfigFile(path)
  // A name that is taken by a folder cannot be replaced by a file, whoever asks.
  chmodSync(path, 0o600)
  await expectError(
    Promise.resolve().then(() => writeConfigFile({ ...file, target: join(folder, 'locked') }, 'ours')),
    'output-unwritable',
  )
  expect(readFileSync(path, 'utf8')).toBe('before')
  expect(readdirSync(join(folder, 'locked'))).toEqual(['settings'])
  expect(readdirSync(folder)).toEqual(['locked'])
})
