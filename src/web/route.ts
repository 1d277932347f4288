/** Where in the app a person is. It stands in the address, so that a refresh and a link lead back to it. */
export type Route =
  | { readonly kind: 'home' }
  | {
      readonly kind: 'session'
      readonly id: string
      /** The entry to show; absent: the end. */
      readonly entry?: string
      /** A subagent's conversation instead of the session's own. */
      readonly subagent?: string
      readonly show?: 'facts'
    }
  | { readonly kind: 'search'; readonly q: string }
  | { readonly kind: 'usage' }
  | { readonly kind: 'board' }
  | { readonly kind: 'team' }
  /** What is remembered; with an id, one document of it. */
  | { readonly kind: 'memory'; readonly id?: string; readonly show?: 'review' | 'artifacts' }

/** Reads the part of an address behind `#`. What it does not understand is the home page. */
export function parseRoute(hash: string): Route {
  const values = new URLSearchParams(hash.replace(/^#/, ''))
  const id = values.get('session')
  if (id !== null && id !== '') {
    const entry = values.get('entry')
    const subagent = values.get('subagent')
    return {
      kind: 'session',
      id,
      ...(entry === null || entry === '' ? {} : { entry }),
      ...(subagent === null || subagent === '' ? {} : { subagent }),
      ...(values.get('show') === 'facts' ? { show: 'facts' as const } : {}),
    }
  }
  const q = values.get('search')
  if (q !== null) return { kind: 'search', q }
  if (values.has('usage')) return { kind: 'usage' }
  if (values.has('board')) return { kind: 'board' }
  if (values.has('team')) return { kind: 'team' }
  const memory = values.get('memory')
  if (memory !== null) {
    const show = values.get('show')
    return {
      kind: 'memory',
      ...(memory === '' ? {} : { id: memory }),
      ...(show === 'review' || show === 'artifacts' ? { show } : {}),
    }
  }
  return { kind: 'home' }
}

/** The address of a place, as a link has it. */
export function toHash(route: Route): string {
  switch (route.kind) {
    case 'home':
      return '#'
    case 'usage':
    case 'board':
    case 'team':
      return `#${route.kind}`
    case 'search':
      return `#search=${encodeURIComponent(route.q)}`
    case 'memory': {
      const { id, show } = route
      return `#memory${id === undefined ? '' : `=${encodeURIComponent(id)}`}${show === undefined ? '' : `&show=${show}`}`
    }
    case 'session': {
      const { id, entry, subagent, show } = route
      const rest = [
        subagent === undefined ? '' : `&subagent=${encodeURIComponent(subagent)}`,
        entry === undefined ? '' : `&entry=${encodeURIComponent(entry)}`,
        show === undefined ? '' : `&show=${show}`,
      ]
      return `#session=${encodeURIComponent(id)}${rest.join('')}`
    }
  }
}
