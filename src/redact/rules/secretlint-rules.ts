import { createRequire } from 'node:module'
import { createContext, Script } from 'node:vm'
import { isObject, ThroughlineError } from '#base'
import { isMasked, type Confidence, type Effort, type Secret } from '../secret.ts'

/** What a rule of secretlint is given, and what it says: as much of its interface as its rules use. */
interface RuleSource {
  readonly content: string
  readonly filePath: string | undefined
  readonly ext: string
  readonly contentType: 'text'
}

interface RuleContext {
  readonly sharedOptions: object
  createTranslator(messages: unknown): (messageId: string, data?: object) => RuleMessage
  report(found: { readonly message: RuleMessage; readonly range: readonly [number, number] }): void
  ignore(): void
}

interface RuleMessage {
  readonly message: string
  readonly messageId: string
  readonly data: object
}

export interface RuleCreator {
  readonly meta: { readonly id: string }
  create(context: RuleContext, options: object): { file?(source: RuleSource): unknown }
}

/** By the name of a message: what is found by it, and how sure it is. One that is not here is `likely` a `secret`. */
const KINDS: Readonly<Record<string, readonly [kind: string, Confidence]>> = {
  AWSAccessKeyID: ['aws-key', 'certain'],
  AWSSecretAccessKey: ['aws-secret', 'certain'],
  AWSAccountID: ['aws-account', 'likely'],
  PrivateKey: ['private-key', 'certain'],
  PackageJSON_xOauthToken: ['github-token', 'certain'],
  Npmrc_authToken: ['npm-token', 'likely'],
  NPM_ACCESS_TOKEN: ['npm-token', 'certain'],
  SLACK_TOKEN: ['slack-token', 'certain'],
  IncomingWebhook: ['slack-webhook', 'certain'],
  BasicAuth: ['url-password', 'likely'],
  OPENAI_TOKEN: ['openai-key', 'certain'],
  ANTHROPIC_API_KEY: ['anthropic-key', 'certain'],
  LINEAR_API_TOKEN: ['linear-key', 'certain'],
  SENDGRID_KEY: ['sendgrid-key', 'certain'],
  SHOPIFY_KEY: ['shopify-token', 'certain'],
  GITHUB_TOKEN: ['github-token', 'certain'],
  OPS_TOKEN: ['onepassword-token', 'certain'],
  MongoDBConnection: ['url-password', 'likely'],
  MySQLConnection: ['url-password', 'likely'],
  PostgreSQLConnection: ['url-password', 'likely'],
}

/** A text can turn this one's findings off by saying so: it is the text that is not trusted. */
const OBEYS_THE_TEXT = '@secretlint/secretlint-rule-filter-comments'

/** What stands in everything that the rules can find: most texts are short and hold none of it. A test knows the rules. */
const MAY_HOLD =
  /A(?:3T|KIA|GPA|IDA|ROA|IPA|NPA|NVA|SIA)|[Aa]ccount|ACCOUNT|[Ss]ecret|SECRET|-----BEGIN|npm_|_authToken|xox[a-z]-|xapp-|:\/\/|sk-|lin_api_|SG\.|shp[a-z]{2}_|gh[a-z]_|github_pat_|ops_/

/** What an expression may take: far more than one takes that is in proportion to its text. */
const PATIENCE_MS = 1000
const PATIENCE_MS_PER_MB = 1000
/** Shorter ones cannot take long, whatever stands in them, and a watch on them would take longer than they do. */
const WATCHED_FROM = 65_536

type Look = (content: string) => readonly Secret[]

let usual: Look | undefined

/**
 * What the recommended rules of secretlint find in a text, with those for AWS ids. Throws `redaction-failed` when they
 * cannot be loaded, fail, or take longer than they may.
 */
export function findByRules(text: string, effort: Effort): readonly Secret[] {
  effort.spend(text.length)
  if (!MAY_HOLD.test(text)) return []
  usual ??= createRuleSearch(loadRules)
  return usual(text)
}

/** A search with some rules, which are loaded when the first text is looked at. */
export function createRuleSearch(
  load: () => readonly RuleCreator[],
  { patienceMs = PATIENCE_MS }: { readonly patienceMs?: number } = {},
): Look {
  let loaded: Look | undefined
  return (text) => {
    try {
      loaded ??= createLook(load())
      return text.length < WATCHED_FROM ? loaded(text) : watch(loaded, text, patienceMs)
    } catch (cause) {
      throw new ThroughlineError('redaction-failed', 'the rules of secretlint failed or took too long', {
        hint: 'Nothing of the text was passed on. Pass it on in smaller pieces.',
        cause,
      })
    }
  }
}

/** At once, not later: nothing leaves before both kinds of rules have looked. */
export function loadRules(): readonly RuleCreator[] {
  const preset: unknown = createRequire(import.meta.url)('@secretlint/secretlint-rule-preset-recommend')
  const rules: unknown = isObject(preset) ? preset['rules'] : undefined
  if (!Array.isArray(rules) || rules.length === 0) throw new Error('there are no rules')
  return rules.filter(isRule)
}

function isRule(value: unknown): value is RuleCreator {
  return isObject(value) && isObject(value['meta']) && typeof value['create'] === 'function'
}

/**
 * Runs rules without secretlint's own core, which takes a tenth of a millisecond for every text however short, and
 * keeps a mark of every run in memory for good.
 */
function createLook(rules: readonly RuleCreator[]): Look {
  let content = ''
  let found: Secret[] = []
  const context: RuleContext = {
    sharedOptions: {},
    createTranslator:
      () =>
      (messageId, data = {}) => ({ message: messageId, messageId, data }),
    report({ message, range }) {
      found.push(...toSecrets(content, message, range))
    },
    ignore() {},
  }
  const made = rules
    .filter(({ meta }) => meta.id !== OBEYS_THE_TEXT)
    .map((rule) => rule.create(context, { enableIDScanRule: true }))
  // Some rules look only into files of a name: the same text is both.
  const names = [undefined, '.npmrc']
  return (text) => {
    content = text
    found = []
    for (const filePath of names) {
      const source: RuleSource = { content, filePath, ext: '.txt', contentType: 'text' }
      for (const [index, rule] of made.entries()) {
        if (filePath === undefined || rules[index]?.meta.id.endsWith('-npm') === true) rule.file?.(source)
      }
    }
    return found
  }
}

const SHORTEST = 4

/**
 * The range of a message begins where its rule began to look, and is as long as what it found: the value itself is
 * looked up behind that place. Of an address only the password is a secret.
 */
function toSecrets(
  text: string,
  { messageId, data }: RuleMessage,
  range: readonly [number, number],
): Secret[] {
  const [kind, confidence] = KINDS[messageId] ?? ['secret', 'likely']
  const values = Object.entries(data).flatMap(([key, value]) =>
    key === 'typeName' || typeof value !== 'string' ? [] : [value],
  )
  const whole = values.length === 0 ? [text.slice(range[0], range[1])] : values
  return whole.flatMap((value) => {
    const secret = narrow(value, kind)
    const start = secret === undefined ? -1 : text.indexOf(secret, range[0])
    if (secret === undefined || start === -1) return []
    return [{ kind, start, end: start + secret.length, confidence }]
  })
}

/** What of a value is the secret, where that is not all of it. */
const PARTS: Readonly<Record<string, RegExp>> = {
  'url-password': /:\/\/[^:/\s]{1,256}:([^@/\s]{1,256})@/,
  'npm-token': /^([^\s"'`;,]+)/,
  'aws-account': /([\d-]{12,14})["']?$/,
}

function narrow(value: string, kind: string): string | undefined {
  const part = PARTS[kind]
  const inside = part === undefined ? value : part.exec(value)?.[1]
  if (inside === undefined || inside.length < SHORTEST || isMasked(inside)) return undefined
  return kind === 'url-password' && isMasked(/:\/\/([^@/\s]*)@/.exec(value)?.[1] ?? '') ? undefined : inside
}

const STAGE = createContext({ look: undefined })
const CALL = new Script('look()')

/** Ends an expression that does not end by itself. */
function watch(look: Look, text: string, patienceMs: number): readonly Secret[] {
  let found: readonly Secret[] = []
  STAGE['look'] = () => {
    found = look(text)
  }
  const timeout = Math.ceil(patienceMs + (text.length / 1_000_000) * PATIENCE_MS_PER_MB)
  CALL.runInContext(STAGE, { timeout })
  return found
}
