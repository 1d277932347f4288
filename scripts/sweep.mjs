import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// `tsc -b` leaves the output of a file that was renamed or removed where it is, and it would be published.
const root = dirname(dirname(fileURLToPath(import.meta.url)))
for (const path of readdirSync(join(root, 'dist'), { recursive: true })) {
  const built = /^(.+?)(?:\.d\.ts|\.js)(?:\.map)?$/.exec(path)?.[1]
  if (built === undefined || path.startsWith('site')) continue
  if (['.ts', '.tsx'].some((ending) => existsSync(join(root, 'src', `${built}${ending}`)))) continue
  rmSync(join(root, 'dist', path))
}
