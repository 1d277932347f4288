import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The web app as it was built: its page, and the files that the page asks for. */
export interface Site {
  /** The page, with a nonce on everything in it that may run. `undefined` when the app was not built. */
  page(nonce: string): string | undefined
  find(path: string): Asset | undefined
}

export interface Asset {
  readonly type: string
  /** Its name says what is in it: it never changes. */
  readonly isForEver: boolean
  readonly body: () => Buffer
  /** The same, compressed. */
  readonly gzip: (() => Buffer) | undefined
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  webmanifest: 'application/manifest+json',
  txt: 'text/plain; charset=utf-8',
}

/** Beside the built rooms, beside the bundled command, or, in the sources, where the build puts it. */
const FOLDERS = ['../site/', '../../dist/site/'].map((place) =>
  fileURLToPath(new URL(place, import.meta.url)),
)

/**
 * Opens the app. The files are those that were there when it was opened, by their exact names: no path that somebody
 * asks for is ever made into the path of a file.
 */
export function openSite(
  folder: string | undefined = FOLDERS.find((one) => existsSync(join(one, 'index.html'))),
): Site {
  if (folder === undefined) return { page: () => undefined, find: () => undefined }
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  const names = new Set(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.split(sep).join('/')),
  )
  const assets = new Map<string, Asset>()
  for (const name of names) {
    const type = TYPES[name.split('.').at(-1) ?? '']
    if (type === undefined) continue
    const file = join(folder, name)
    assets.set(`/${name}`, {
      type,
      isForEver: name.startsWith('assets/'),
      body: once(() => readFileSync(file)),
      gzip: names.has(`${name}.gz`) ? once(() => readFileSync(`${file}.gz`)) : undefined,
    })
  }
  return {
    page: (nonce) => html.replaceAll('<script', `<script nonce="${nonce}"`),
    find: (path) => assets.get(path),
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
