import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'

/** A file system of its own for a folder, which can be too small, or take no change. */
export interface SmallDisk {
  /** `size=64m`: more room from now on. */
  remount(options: string): void
  remove(): void
}

/** Mounts a new file system on a new folder; `undefined` where nobody may: elsewhere than Linux, or not as root. */
export function mountSmallDisk(dir: string, options: string): SmallDisk | undefined {
  mkdirSync(dir, { recursive: true })
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', dir], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  return {
    remount: (changed) => execFileSync('mount', ['-o', `remount,${changed}`, dir]),
    remove: () => execFileSync('umount', ['-l', dir]),
  }
}
