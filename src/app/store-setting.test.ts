import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { expectError } from '#testing'
import { ENVIRONMENT, readConfig } from './config.ts'
import { readLocalSettings } from './local-settings.ts'

const home = mkdtempSync(join(tmpdir(), 'throughline-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const SECRET = 'pa55w0rd'
const URL_OF_STORE = `postgres://ada:${SECRET}@db.example/team`

test('[TEA11] the store is named by the environment or by config.json, and nothing shows its password', async () => {
  const read = (store: string | undefined) =>
    readConfig({ env: { THROUGHLINE_HOME: home, THROUGHLINE_STORE: store }, homeDir: home })
  expect(read(undefined).store).toBeUndefined()
  expect(read('').store).toBeUndefined()
  const config = read(URL_OF_STORE)
  writeFileSync(join(home, 'config.json'), JSON.stringify({ store: URL_OF_STORE }))
  const settings = await readLocalSettings(home)
  for (const { store } of [config, settings]) {
    expect(store?.shown).toBe('postgres://ada@db.example/team')
    expect(store?.reveal()).toBe(URL_OF_STORE)
    expect(inspect(store, { depth: 9, showHidden: false }) + JSON.stringify({ store })).not.toContain(SECRET)
  }
  expect(ENVIRONMENT.find(({ name }) => name === 'THROUGHLINE_STORE')?.isSecret).toBe(true)
})

test('[TEA11] a store that is none is refused without being repeated', async () => {
  writeFileSync(join(home, 'config.json'), JSON.stringify({ store: `mysql://ada:${SECRET}@h/d` }))
  const error = await expectError(readLocalSettings(home), 'config-invalid')
  expect(inspect(error, { depth: 9 })).not.toContain(SECRET)
  writeFileSync(join(home, 'config.json'), JSON.stringify({ store: 7 }))
  await expectError(readLocalSettings(home), 'config-invalid')
})
