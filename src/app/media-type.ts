import { isUtf8 } from 'node:buffer'
import { extname } from 'node:path'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.htm': 'text/html',
  '.svg': 'image/svg+xml',
  '.md': 'text/markdown',
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.pdf': 'application/pdf',
}

/** What kind of thing a file is: by its name, else whether it is text. */
export function mediaTypeOf(path: string, bytes: Uint8Array): string {
  return TYPES[extname(path).toLowerCase()] ?? (isUtf8(bytes) ? 'text/plain' : 'application/octet-stream')
}
