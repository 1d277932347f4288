import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readDoors } from './doors.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const MADE = '<!-- Made by `npm run reference` from the code. Edit the code, not this file. -->'

/**
 * The pages of docs/reference, by file name. The facts come in as arguments: the script takes them from what was
 * built, the test that looks for stale pages takes them from the sources.
 */
export function renderReference({
  commands,
  everywhere,
  variables,
  environment,
  errorCodes,
  routes,
  settings,
}) {
  return {
    'api.md': toApiPage(routes),
    'cli.md': toCliPage(commands, everywhere),
    'config.md': toConfigPage(settings),
    'environment.md': toEnvironmentPage(variables, environment),
    'errors.md': toErrorsPage(errorCodes),
    'library.md': toLibraryPage(readDoors()),
  }
}

function toCliPage(commands, everywhere) {
  return page(
    '# Command line',
    'Exit codes, where a command does not say otherwise: 0 done, 1 failed, 2 the command line was not understood.',
    list(commands.map(({ name, summary }) => [`[\`throughline ${name}\`](#throughline-${name})`, summary])),
    ...commands.flatMap(toCommandSection),
    '## Everywhere',
    list(everywhere.map((option) => [`\`${toUsage(option)}\``, option.summary])),
  )
}

function toCommandSection({ name, summary, description, args, options, examples, exits }) {
  const words = args.map((arg) => (arg.required ? ` <${arg.name}>` : ` [${arg.name}]`)).join('')
  return [
    `## throughline ${name}`,
    summary,
    fence(`throughline ${name}${words} [options]`),
    description,
    list([
      ...args.map((arg) => [`\`${arg.name}\``, arg.summary]),
      ...options.map((option) => [`\`${toUsage(option)}\``, option.summary]),
    ]),
    ...(exits === undefined
      ? []
      : ['Exit codes:', list(exits.map(([code, meaning]) => [`\`${code}\``, meaning]))]),
    'Examples:',
    fence(examples.map(({ line, says }) => `# ${says}\n${line}`).join('\n')),
  ]
}

function toUsage({ name, value, values, bare }) {
  if (value === undefined) return `--${name}`
  const shown = values === undefined ? `<${value}>` : values.join('|')
  return bare === undefined ? `--${name} ${shown}` : `--${name} [${shown}]`
}

function toApiPage(routes) {
  const all = Object.values(routes)
  return page(
    '# API',
    'What the daemon answers over HTTP. Requests come with `Authorization: Bearer <token>`, except where it says *nobody*; bodies and answers are JSON. Flags in a query are `1` and `0`. Every error is `{"code", "message", "hint"}` with a [code](errors.md). Lists come in pages: give the `next` of one as the `cursor` of the next.',
    list(
      all.map((route) => [`[\`${route.method} ${route.path}\`](#${anchorOfRoute(route)})`, route.summary]),
    ),
    ...all.flatMap(toRouteSection),
    '## WS /api/live',
    'Entries, sessions and hits as they come. Opened with the subprotocols `throughline.v1` and `throughline.<ticket>`. The device sends frames, one per message: `{"kind": "subscribe", "subscription": 1, "topic": {"kind": "session", "id": "…"}, "cursor": "…"}`, `unsubscribe`, `ping`. The daemon sends lists of frames: `hello`, `event`, `failed`, `pong`. Every event has the cursor to go on from; topics and events are in [library](library.md#throughlinewire).',
  )
}

function toRouteSection({ method, path, auth, summary, query = [], body = [], answer }) {
  return [
    `## ${method} ${path}`,
    auth === 'none' ? `${summary} Asked by nobody in particular: no token is needed.` : summary,
    ...(query.length === 0 ? [] : ['Query:', list(query.map(toParameter))]),
    ...(body.length === 0 ? [] : ['Body:', list(body.map(toParameter))]),
    `Answer: ${answer}`,
  ]
}

function toParameter({ name, kind, required, meaning }) {
  return [`\`${name}\` (${kind}${required === true ? ', required' : ''})`, meaning]
}

function anchorOfRoute({ method, path }) {
  return `${method} ${path}`
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')
}

const KINDS = {
  text: 'Text',
  flag: 'True or false',
  minutes: 'Minutes',
  tokens: 'Tokens',
  folder: 'A whole path',
  folders: 'A list of whole paths',
  names: 'A list of names',
  texts: 'A list of texts',
}

function toConfigPage(settings) {
  return page(
    '# config.json',
    'What the person at a machine decides, as one JSON object in `config.json` of the home folder (`~/.throughline`, or `THROUGHLINE_HOME`). No device can change it. It is read anew each time; `null` is as good as nothing. `a.b` stands for `{"a": {"b": …}}`, `*` for any name.',
    'What cannot be read, is of another kind, or is no setting is told by every command and by `throughline status`, with its place. A file that is not valid, or has a value of another kind, is not used at all; a key that is unknown is ignored.',
    ...settings.flatMap(({ key, kind, fallback, meaning }) => [
      `## ${key}`,
      `${typeof kind === 'string' ? KINDS[kind] : kind.map((one) => `\`${one}\``).join(', ')}. ${meaning}`,
      ...(fallback === undefined ? [] : [`Default: \`${fallback}\``]),
    ]),
  )
}

function toEnvironmentPage(variables, environment) {
  const fallbacks = new Map(environment.map(({ name, meaning, fallback }) => [name, { meaning, fallback }]))
  return page(
    '# Environment',
    'Everything that is read from the environment. An empty variable is a variable that was not set.',
    ...variables.flatMap(({ name, summary }) => {
      const known = fallbacks.get(name)
      return known === undefined
        ? [`## ${name}`, summary]
        : [`## ${name}`, known.meaning, `Default: \`${known.fallback}\``]
    }),
  )
}

function toErrorsPage(errorCodes) {
  return page(
    '# Errors',
    'Every error is a `ThroughlineError` with one of these codes, a sentence for people, and a `hint` that says what to do next. With `--json` the command line prints `{"error": {"code", "message", "hint"}}` on standard error.',
    ...Object.entries(errorCodes).flatMap(([code, meaning]) => [`## ${code}`, meaning]),
  )
}

function toLibraryPage(doors) {
  return page(
    '# Library',
    'Everything the package exports, by the path it is imported from.',
    list(
      doors.map(({ specifier, names }) => [
        `[\`${specifier}\`](#${anchorOf(specifier)})`,
        `${names.length} names`,
      ]),
    ),
    ...doors.flatMap(({ specifier, names }) => [
      `## ${specifier}`,
      ...group(
        'Functions and values',
        names.filter(({ kind }) => kind === 'value'),
      ),
      ...group(
        'Types',
        names.filter(({ kind }) => kind === 'type'),
      ),
    ]),
  )
}

function group(title, names) {
  if (names.length === 0) return []
  return [`**${title}**`, list(names.map(({ shape, says }) => [`\`${shape}\``, says]))]
}

function anchorOf(heading) {
  return heading.replaceAll('/', '')
}

function list(rows) {
  return rows.map(([left, right]) => (right === '' ? `- ${left}` : `- ${left}: ${right}`)).join('\n')
}

function fence(text) {
  return `\`\`\`sh\n${text}\n\`\`\``
}

function page(title, ...parts) {
  return `${[title, MADE, ...parts].join('\n\n')}\n`
}

async function writeReference() {
  const [{ commands, everywhere, variables }, { ENVIRONMENT, SETTINGS }, { ERROR_CODES }, { ROUTES }] =
    await Promise.all(
      ['cli', 'app', 'base', 'wire'].map(
        (room) => import(new URL(`../dist/${room}/index.js`, import.meta.url).href),
      ),
    )
  const pages = renderReference({
    commands,
    everywhere,
    variables,
    environment: ENVIRONMENT,
    errorCodes: ERROR_CODES,
    routes: ROUTES,
    settings: SETTINGS,
  })
  const folder = join(root, 'docs/reference')
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(pages)) writeFileSync(join(folder, name), text)
  console.log(`docs/reference: ${Object.keys(pages).join(', ')}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeReference()
