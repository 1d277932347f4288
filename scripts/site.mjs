import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'

// The web app, as the daemon serves it: dist/site. What is heavy to send lies beside it, compressed once and for all.
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const site = join(root, 'dist', 'site')
await build({ configFile: join(root, 'vite.config.ts'), logLevel: 'warn' })

for (const path of readdirSync(site, { recursive: true })) {
  if (!/\.(?:js|css|svg|webmanifest)$/.test(path)) continue
  const file = join(site, path)
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
}
writeFileSync(
  join(site, 'LICENSES.txt'),
  toLicences(['preact', '@preact/signals', '@preact/signals-core', 'lowlight', 'uplot']),
)

/** Their licences ask that they go where the code goes. */
function toLicences(names) {
  return names
    .map((name) => `${name}\n\n${readLicence(join(root, 'node_modules', name))}`)
    .join('\n\n---\n\n')
}

function readLicence(folder) {
  const name = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file))
  return name === undefined
    ? readFileSync(join(folder, 'package.json'), 'utf8')
    : readFileSync(join(folder, name), 'utf8')
}
