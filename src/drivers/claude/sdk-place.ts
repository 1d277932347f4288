import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const SDK = '@anthropic-ai/claude-agent-sdk'

/** Whether the Agent SDK is where a module of ours finds it. */
export function hasSdk(module: string): boolean {
  const folders = createRequire(module).resolve.paths(SDK) ?? []
  return folders.some((folder) => existsSync(join(folder, SDK)))
}

/** What to run so that it is: beside the very Throughline that runs, wherever that was installed. */
export function installCommand(module: string): string {
  const parts = fileURLToPath(module).split(sep)
  const at = parts.lastIndexOf('node_modules')
  const owner = parts.slice(0, at).join(sep)
  // A checkout is a project, and so is a folder whose package.json has Throughline among what it needs.
  if (at < 0) return `npm install ${SDK}`
  if (existsSync(join(owner, 'package.json'))) return `npm install --prefix ${quoted(owner)} ${SDK}`
  const prefix = basename(owner) === 'lib' ? dirname(owner) : owner
  return isDefaultPrefix(prefix)
    ? `npm install -g ${SDK}`
    : `npm install -g --prefix ${quoted(prefix)} ${SDK}`
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/u.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}

/** Where npm installs globally when nothing else is configured: beside Node. */
function isDefaultPrefix(prefix: string): boolean {
  const bin = dirname(process.execPath)
  return prefix === bin || prefix === dirname(bin)
}
