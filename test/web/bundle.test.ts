import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const site = join(root, 'dist', 'site')
const html = readFileSync(join(site, 'index.html'), 'utf8')
const size = (name: string): number => readFileSync(join(site, `${name}.gz`)).length

/** What the page itself asks for. */
const asked = [...html.matchAll(/(?:src|href)="\.?\/?(assets\/[^"]+)"/g)].map((found) => found[1] ?? '')

test('[WEB16] the shell of the app is at most 60 kB as it is sent, and what is heavy comes when it is needed', () => {
  expect(asked.length).toBeGreaterThan(0)
  const shell = asked.reduce((sum, name) => sum + size(name), Buffer.byteLength(html))
  expect(shell).toBeLessThanOrEqual(60_000)
  const assets = readdirSync(join(site, 'assets')).filter((name) => name.endsWith('.js'))
  const apart = assets.filter((name) => !asked.includes(`assets/${name}`))
  for (const view of ['highlight-worker', 'usage-view', 'search-view', 'facts-view', 'palette'])
    expect(apart.some((name) => name.startsWith(view))).toBe(true)
})

test('[WEB16] the script of the page imports nothing that must be fetched before it runs', () => {
  for (const name of asked.filter((one) => one.endsWith('.js'))) {
    const code = readFileSync(join(site, name), 'utf8')
    expect(/(?:^|[;}\s])import\s*(?:[\w{*][^'"()]*from)?\s*["']/.exec(code)).toBeNull()
  }
})

test('[ARCH4] [WEB16] nothing of Node is in what a browser gets, and the licences of what is', () => {
  const code = readdirSync(join(site, 'assets'))
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(site, 'assets', name), 'utf8'))
    .join('\n')
  expect(code).not.toMatch(/from\s*["']node:|require\(["']|better-sqlite3|\.claude\/projects/)
  const licences = readFileSync(join(site, 'LICENSES.txt'), 'utf8')
  for (const name of ['preact', 'lowlight', 'uplot']) expect(licences).toContain(name)
})
