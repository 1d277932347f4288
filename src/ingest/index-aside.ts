import { setAside } from '#store'

/** Where a damaged index was put; nothing when the folder takes no change. */
export function findAside(path: string): string | undefined {
  try {
    return setAside(path)
  } catch {
    return undefined
  }
}
