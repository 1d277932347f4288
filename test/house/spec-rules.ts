import { Visitor, type ESTree } from 'vite'
import { lineOf, parse, type SourceFile } from './source-file.ts'

/** A rule id and where it stands. */
interface Mention {
  readonly id: string
  readonly place: string
}

/** Everything that is said about rules: where they are written, which tests show them, which are not built yet. */
export interface Ledger {
  readonly rules: readonly Mention[]
  readonly shown: readonly Mention[]
  readonly pending: readonly Mention[]
}

const ID = '[A-Z]+\\d+(?:\\.\\d+)?'
const PENDING = 'docs/spec/pending.md'

export function readLedger(specs: readonly SourceFile[], tests: readonly SourceFile[]): Ledger {
  return {
    rules: specs.filter(({ path }) => path !== PENDING).flatMap(readRules),
    shown: tests.flatMap(readTitles),
    pending: specs.filter(({ path }) => path === PENDING).flatMap(readPending),
  }
}

/** A rule is a bullet that begins with its id: `- **J1** A line is on disk …`. */
function readRules(file: SourceFile): readonly Mention[] {
  return [...file.text.matchAll(new RegExp(`^- \\*\\*(${ID})\\*\\*`, 'gm'))].map((match) =>
    mention(file, match),
  )
}

/** Pending rules stand in bullets, as code: "- `A1.1` `A1.2`". What they ask for stands where they are written. */
function readPending(file: SourceFile): readonly Mention[] {
  return [...file.text.matchAll(new RegExp(`(?<=^- .*)\`(${ID})\``, 'gm'))].map((match) =>
    mention(file, match),
  )
}

function mention(file: SourceFile, { 1: id = '', index }: RegExpExecArray): Mention {
  return { id, place: `${file.path}:${lineOf(file, index)}` }
}

/** The ids in brackets in the titles of tests that run. A test that is skipped or to be written shows nothing. */
function readTitles(file: SourceFile): readonly Mention[] {
  const found: Mention[] = []
  new Visitor({
    CallExpression(node) {
      const words = wordsOf(node.callee)
      if (
        !['test', 'it', 'describe'].includes(words[0] ?? '') ||
        words.includes('skip') ||
        words.includes('todo')
      )
        return
      const title = textOf(node.arguments[0])
      const place = `${file.path}:${lineOf(file, node.start)}`
      for (const { 1: id = '' } of title.matchAll(new RegExp(`\\[(${ID})\\]`, 'g'))) found.push({ id, place })
    },
  }).visit(parse(file).program)
  return found
}

/** `test.skipIf(x).each(rows)` → test, skipIf, each. */
function wordsOf(node: ESTree.Expression | ESTree.Super): readonly string[] {
  if (node.type === 'Identifier') return [node.name]
  if (node.type === 'MemberExpression') {
    return [...wordsOf(node.object), node.property.type === 'Identifier' ? node.property.name : '']
  }
  if (node.type === 'CallExpression') return wordsOf(node.callee)
  return node.type === 'TaggedTemplateExpression' ? wordsOf(node.tag) : []
}

function textOf(node: ESTree.Node | undefined): string {
  if (node?.type === 'Literal') return typeof node.value === 'string' ? node.value : ''
  if (node?.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.raw).join('…')
  return node?.type === 'BinaryExpression' ? textOf(node.left) + textOf(node.right) : ''
}

/** [SPEC1] Rules that no test shows and nobody calls pending. */
export function unshownRules({ rules, shown, pending }: Ledger): readonly string[] {
  const known = idsOf([...shown, ...pending])
  return rules
    .filter(({ id }) => !known.has(id))
    .map(
      ({ id, place }) =>
        `${id} (${place}) has no test: put [${id}] into the title of a test that shows it, or add it to ${PENDING}`,
    )
}

/** [SPEC2] Titles that name a rule nobody wrote. */
export function unwrittenRules({ rules, shown }: Ledger): readonly string[] {
  const known = idsOf(rules)
  return shown
    .filter(({ id }) => !known.has(id))
    .map(
      ({ id, place }) =>
        `[${id}] (${place}) is no rule: write "- **${id}** …" in docs/spec, or correct the title`,
    )
}

/** [SPEC3] Pending rules that are shown by a test, or are written nowhere. */
export function stalePending({ rules, shown, pending }: Ledger): readonly string[] {
  const known = idsOf(rules)
  const done = idsOf(shown)
  return pending.flatMap(({ id, place }) => {
    if (done.has(id)) return [`${id} (${place}) is not pending any more, a test shows it: remove it there`]
    return known.has(id)
      ? []
      : [`${id} (${place}) is no rule: write "- **${id}** …" in docs/spec, or remove it there`]
  })
}

/** [SPEC4] Ids that two rules, or two pending lines, share. */
export function sharedIds({ rules, pending }: Ledger): readonly string[] {
  return [rules, pending].flatMap((mentions) =>
    mentions.flatMap(({ id, place }, at) => {
      const first = mentions.findIndex((other) => other.id === id)
      return first < at ? [`${id} (${place}) is taken: it stands at ${mentions[first]?.place}`] : []
    }),
  )
}

/** [SPEC5] Behaviours the product owes that no rule states. */
export function missingRules({ rules }: Ledger, owed: readonly string[]): readonly string[] {
  const known = idsOf(rules)
  return owed
    .filter((id) => !known.has(id))
    .map((id) => `${id} is owed and in no file of docs/spec: restate it as "- **${id}** …"`)
}

function idsOf(mentions: readonly Mention[]): ReadonlySet<string> {
  return new Set(mentions.map(({ id }) => id))
}
