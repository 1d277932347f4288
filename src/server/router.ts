import { isSessionId, ROUTES, type QueryValues, type Route, type RouteName } from '#wire'
import { Refusal } from './errors.ts'

/** Which route is meant, and with what. */
export interface Match {
  readonly name: RouteName
  readonly route: Route
  /** What stands in the path for `:id` or `:query`. */
  readonly id: string
  readonly query: QueryValues
}

type Pattern = { readonly name: RouteName; readonly route: Route; readonly parts: readonly string[] }

const LONGEST_TEXT = 200
const NAMES = Object.keys(ROUTES).filter((name): name is RouteName => Object.hasOwn(ROUTES, name))
const PATTERNS: readonly Pattern[] = NAMES.map((name) => ({
  name,
  route: ROUTES[name],
  parts: ROUTES[name].path.split('/'),
}))

/** Finds the route of a request target. Throws a `Refusal`: 404, 405, or 400 for a part that breaks its grammar. */
export function matchRoute(method: string, target: string): Match {
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  const parts = path.split('/')
  const found = PATTERNS.filter((pattern) => isMatch(pattern.parts, parts))
  const chosen = found.find(({ route }) => route.method === method)
  if (chosen === undefined) throw found.length === 0 ? notFound() : notThatWay(found)
  const at = chosen.parts.findIndex((part) => part.startsWith(':'))
  return {
    name: chosen.name,
    route: chosen.route,
    id: at < 0 ? '' : readId(parts[at] ?? '', chosen.parts[at] ?? ''),
    query: mark < 0 ? new Map() : readQuery(target.slice(mark + 1)),
  }
}

function isMatch(pattern: readonly string[], parts: readonly string[]): boolean {
  return (
    pattern.length === parts.length && pattern.every((part, at) => part.startsWith(':') || part === parts[at])
  )
}

function readId(part: string, pattern: string): string {
  const text = decode(part)
  const isGood =
    text !== undefined &&
    (pattern === ':query'
      ? text !== '' && text.length <= LONGEST_TEXT && !hasControl(text)
      : isSessionId(text))
  if (isGood) return text
  throw new Refusal(400, 'request-invalid', {
    message: 'the path has a part that is no id',
    hint: 'Ids are letters, digits, - and _, at most 128 of them. `GET /api/sessions` lists them.',
  })
}

function readQuery(text: string): QueryValues {
  const values = new Map<string, string>()
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const key = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1).replaceAll('+', ' '))
    if (key === undefined || value === undefined || values.has(key)) {
      throw new Refusal(400, 'request-invalid', {
        message: 'the query string cannot be read, or says something twice',
        hint: 'Write each parameter once, with percent signs for what is no letter or digit.',
      })
    }
    values.set(key, value)
  }
  return values
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

function hasControl(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return /[\u0000-\u001f\u007f-\u009f]/.test(text)
}

function notFound(): Refusal {
  return new Refusal(404, 'request-invalid', {
    message: 'there is nothing at this path',
    hint: 'The API is described in docs/reference/api.md.',
  })
}

function notThatWay(found: readonly Pattern[]): Refusal {
  const allow = found.map(({ route }) => route.method).join(', ')
  return new Refusal(405, 'request-invalid', {
    message: 'this path is not asked that way',
    hint: `Use ${allow}.`,
    headers: { allow },
  })
}
