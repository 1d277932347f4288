import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ENVIRONMENT, SETTINGS } from '#app'
import { ERROR_CODES, object, parseJson } from '#base'
import { commands, everywhere, variables } from '#cli'
import { ROUTES } from '#wire'
import { Visitor } from 'vite'
import { describe, expect, test } from 'vitest'
import { renderReference } from '../../scripts/reference.mjs'
import { expectNone } from './expect-none.ts'
import { brokenLinks, unknownCommands, unknownScripts } from './links.ts'
import { PLAN } from './plan.ts'
import { isTest, parse, readFiles, root, type SourceFile } from './source-file.ts'

const pages: readonly SourceFile[] = [
  ...['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md']
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  ...readFiles(['docs'], /\.md$/),
]

function pageOf(name: string): string {
  return pages.find(({ path }) => path === `docs/reference/${name}`)?.text ?? ''
}

/** What stands under a heading, up to the next one of its kind. */
function sectionOf(page: string, heading: string): string {
  const sections = page.split(/^## /m).filter((section) => section.startsWith(`${heading}\n`))
  return sections.join('\n')
}

describe('the reference', () => {
  const made = renderReference({
    commands,
    everywhere,
    variables,
    environment: ENVIRONMENT,
    errorCodes: ERROR_CODES,
    routes: ROUTES,
    settings: SETTINGS,
  })

  test.each(Object.keys(made))('[DOCS1] %s says what the code says', (name) => {
    expect(pageOf(name), `docs/reference/${name} is stale: run npm run reference`).toBe(made[name])
  })

  test('[DOCS1] there is no other page', () => {
    const found = pages.flatMap(({ path }) => /^docs\/reference\/(.+)$/.exec(path)?.[1] ?? [])
    expect(found).toEqual(Object.keys(made).toSorted())
  })

  test.each(commands)(
    '[DOCS2] the command $name and its options have their place',
    ({ name, args, options }) => {
      const section = sectionOf(pageOf('cli.md'), `throughline ${name}`)
      const missing = [
        ...args.map((arg) => `\`${arg.name}\``),
        ...options.map((option) => `\`--${option.name}`),
      ].filter((word) => !section.includes(word))
      expectNone(missing)
    },
  )

  test('[DOCS2] every variable that is read from the environment has its place', () => {
    const page = pageOf('environment.md')
    expectNone(variables.map(({ name }) => name).filter((name) => sectionOf(page, name) === ''))
    expectNone(variablesRead().filter((name) => !new RegExp(`\\b${name}\\b`).test(page)))
  })

  test('[DOCS2] every route and its parameters have their place', () => {
    const page = pageOf('api.md')
    const missing = Object.values(ROUTES).flatMap(({ method, path, query = [], body = [] }) => {
      const section = sectionOf(page, `${method} ${path}`)
      const names = [...query, ...body].map(({ name }) => name)
      if (section === '') return [`${method} ${path}`]
      return names.filter((name) => !section.includes(`\`${name}\``)).map((name) => `${path} ${name}`)
    })
    expectNone(missing)
  })

  test('[DOCS2] every error code has its place', () => {
    const page = pageOf('errors.md')
    expectNone(Object.keys(ERROR_CODES).filter((code) => sectionOf(page, code) === ''))
  })
})

/** The names of variables in `env['NAME']`, whoever `env` came from. Tests have variables of their own. */
function variablesRead(): readonly string[] {
  const found = new Set<string>()
  for (const file of readFiles(['src/app', 'src/cli'], /\.ts$/).filter(({ path }) => !isTest(path))) {
    new Visitor({
      MemberExpression({ object: from, property }) {
        const name = from.type === 'MemberExpression' ? from.property : from
        if (name.type !== 'Identifier' || name.name !== 'env') return
        if (property.type === 'Literal' && typeof property.value === 'string') found.add(property.value)
      },
    }).visit(parse(file).program)
  }
  return [...found].toSorted()
}

test('[DOCS6] the rooms in the architecture page are the plan that is enforced', () => {
  const page = pages.find(({ path }) => path === 'docs/architecture.md')?.text ?? ''
  const rows = [...page.matchAll(/^\| `([a-z]+)` \|[^|]*\| ([^|]*) \| (any|Node) \|$/gm)]
  const others = (room: string): readonly string[] => Object.keys(PLAN).filter((other) => other !== room)
  const shown = rows.map(([, room = '', enters = '', platform]) => {
    const except = /^all but (.+)$/.exec(enters)?.[1]?.split(', ')
    const list = except
      ? others(room).filter((other) => !except.includes(other))
      : (enters.match(/[a-z]+/g) ?? [])
    return [room, { enters: list.toSorted(), browserSafe: platform === 'any' }]
  })
  const planned = Object.entries(PLAN).map(([room, { enters, browserSafe = false }]) => [
    room,
    { enters: enters.toSorted(), browserSafe },
  ])
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(planned))
})

test('[DOCS7] the index of the spec has a row for every page', () => {
  const index = pages.find(({ path }) => path === 'docs/spec/README.md')?.text ?? ''
  const all = pages.flatMap(({ path }) => /^docs\/spec\/([a-z-]+\.md)$/.exec(path)?.[1] ?? [])
  expect(all.length).toBeGreaterThan(50)
  expect(all.filter((page) => !index.includes(`| [${page}](${page}) |`))).toEqual([])
})

test('[DOCS8] what the code keeps in the home folder is on the architecture page', () => {
  const page = pages.find(({ path }) => path === 'docs/architecture.md')?.text ?? ''
  const kept = readFiles(['src'], /(?<!\.test)\.ts$/).flatMap(({ text }) => [
    ...text.matchAll(/join\((?:home|(?:config|options|site)\.home), '([^']+)'/g),
  ])
  const names = new Set(kept.map(([, name]) => name ?? ''))
  expect(names.size).toBeGreaterThan(20)
  expect([...names].filter((name) => !page.includes(name))).toEqual([])
})

describe('all pages', () => {
  const scripts = Object.keys(
    object(parseJson(readFileSync(join(root, 'package.json'), 'utf8')), 'scripts') ?? {},
  )
  const known = commands.map(({ name, options }) => ({
    name,
    options: [...options, ...everywhere].map((option) => option.name),
  }))

  test('[DOCS3] links and images lead somewhere', () => {
    expectNone(brokenLinks(pages, (path) => existsSync(join(root, path))))
  })

  test('[DOCS3] a missing file, picture or heading is seen', () => {
    const text = [
      '# Top\n[a](gone.md) [b](b.md#there-it-is) [c](b.md#not-there) [d](#top) [e](https://example.com/#x)',
      '[![f](gone.png)](b.md)\n<img src="also-gone.png" alt="">',
      '`[g](code.md)`\n```md\n[h](fence.md)\n```\n[i]: ref.md',
    ].join('\n')
    const made = [
      { path: 'docs/a.md', text },
      { path: 'docs/b.md', text: '# B\n\n## There `it` is!\n' },
    ]
    expect(brokenLinks(made, (path) => made.some((page) => page.path === path))).toEqual([
      'docs/a.md:2 leads to gone.md, and docs/gone.md is not there',
      'docs/a.md:2 leads to b.md#not-there, and docs/b.md has no such heading',
      'docs/a.md:3 leads to gone.png, and docs/gone.png is not there',
      'docs/a.md:9 leads to ref.md, and docs/ref.md is not there',
      'docs/a.md:4 leads to also-gone.png, and docs/also-gone.png is not there',
    ])
  })

  test('[DOCS4] every npm script that is named is there', () => {
    expectNone(unknownScripts(pages, scripts))
  })

  test('[DOCS4] a script that is not there is seen', () => {
    const text =
      'Run `npm ci && npm run build`, `npm run --silent lint`, then `npm test` and `npm run bnech -- --size m`.'
    expect(unknownScripts([{ path: 'README.md', text }], ['build', 'lint', 'test'])).toEqual([
      'README.md:1 says npm run bnech, which package.json does not have',
    ])
  })

  test('[DOCS5] every line to type is one that the command line understands', () => {
    const typed = pages.filter(({ path }) =>
      /^(?:README|AGENTS)\.md$|^docs\/(?:guide\.md|reference\/)/.test(path),
    )
    expectNone(unknownCommands(typed, known))
  })

  test('[DOCS5] a command and an option that are not there are seen', () => {
    const text =
      'Type `throughline lst` or:\n```sh\n$ throughline show 7d0c --las 3 | less\nthroughline ls --json\nthroughline --help\n```\n'
    expect(unknownCommands([{ path: 'README.md', text }], known)).toEqual([
      'README.md:1 says throughline lst, which is no command',
      'README.md:3 says throughline show --las, which is no option',
    ])
  })
})
