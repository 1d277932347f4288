import { login } from '#client'
import { toDeviceName } from '#model'

const KEY = 'throughline.token'

/** The token of this browser. Storage belongs to one origin: no other page, and no other port, can read it. */
export function readToken(): string | undefined {
  return localStorage.getItem(KEY) ?? undefined
}

export function forgetToken(): void {
  localStorage.removeItem(KEY)
}

/**
 * Takes a one-time code out of the address, if there is one, and turns it into a token. The code is gone from the
 * address and from the history before it is used.
 */
export async function takeCode(): Promise<'taken' | 'none' | 'refused'> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return 'none'
  history.replaceState(null, '', location.pathname)
  try {
    const label = toDeviceName(navigator.userAgent)
    localStorage.setItem(KEY, await login({ url: location.origin, code, label }))
    return 'taken'
  } catch {
    return 'refused'
  }
}
