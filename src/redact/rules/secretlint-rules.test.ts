import { lintSource } from '@secretlint/core'
import { creator } from '@secretlint/secretlint-rule-preset-recommend'
import { describe, expect, test } from 'vitest'
import { guardEgress } from '../egress.ts'
import { findSecrets } from '../find-secrets.ts'
import { toLogText } from '../log-text.ts'
import { redact } from '../redact.ts'
import type { Secret } from '../secret.ts'
import { createRuleSearch, findByRules, loadRules, type RuleCreator } from './secretlint-rules.ts'

let state = 11
function some(alphabet: string, count: number): string {
  return Array.from({ length: count }, () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    return alphabet[state % alphabet.length]
  }).join('')
}

const HEX = '0123456789abcdef'
const ALNUM = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** One for each thing that the recommended rules know: the secret, and the text it stands in. */
const EXAMPLES: Readonly<Record<string, readonly [secret: string, before: string, after: string]>> = {
  'AWS access key': [['AK', 'IA', some(UPPER, 16)].join(''), 'id ', ' here'],
  'AWS group id': [['AG', 'PA', some(UPPER, 16)].join(''), 'group ', ''],
  'AWS user id': [['AI', 'DA', some(UPPER, 16)].join(''), 'user ', ''],
  'AWS role id': [['AR', 'OA', some(UPPER, 16)].join(''), 'role ', ''],
  'AWS account': ['481516234200', 'aws_account_id: "', '"\n'],
  'AWS secret': [some(`${ALNUM}/+`, 40), 'AWS_SECRET_ACCESS_KEY = ', '\nregion = eu'],
  'GitHub in an address': [some(HEX, 40), 'git+https://', ':x-oauth-basic@github.com/a/b'],
  'GitHub with an underscore': [['gh', 'p_', some(ALNUM, 17), '_', some(ALNUM, 18)].join(''), '', ''],
  'npm settings': [some(HEX, 36), '//registry.npmjs.org/:_authToken=', '\nsave-exact=true'],
  'npm token': [['npm', '_', some(ALNUM, 36)].join(''), 'use ', ''],
  'Slack token': [['xo', 'xp-', some('0123456789', 12), '-', some(ALNUM, 24)].join(''), '', ''],
  'Slack webhook': [
    `T${some(ALNUM, 8)}/B${some(ALNUM, 8)}/${some(ALNUM, 24)}`,
    'https://hooks.slack.com/services/',
    '',
  ],
  'basic authentication': [some(ALNUM, 12), 'https://deploy:', '@host.corp.net/x'],
  OpenAI: [['sk-', 'proj-', some(ALNUM, 74), 'T3Blbk', 'FJ', some(ALNUM, 74)].join(''), '', ''],
  Anthropic: [['sk-', 'ant-api03-', some(ALNUM, 93), 'AA'].join(''), '', ''],
  Linear: [['lin', '_api_', some(ALNUM, 40)].join(''), '', ''],
  'private key': [
    ['-----BEGIN RSA ', 'PRIVATE KEY-----\nMII', some(ALNUM, 300), '\n-----END RSA PRIVATE KEY-----'].join(
      '',
    ),
    '',
    '',
  ],
  SendGrid: [['SG', '.', some(ALNUM, 22), '.', some(ALNUM, 43)].join(''), '', ''],
  Shopify: [['shp', 'at_', some(ALNUM, 32)].join(''), '', ''],
  '1Password': [
    ['ops', '_', Buffer.from(`{"signInAddress":"${some(ALNUM, 122)}"}`).toString('base64')].join(''),
    'token ',
    ' of a service',
  ],
  MongoDB: [some(ALNUM, 14), 'mongodb+srv://app:', '@cluster.mongodb.net/app'],
  MySQL: [`${some(ALNUM, 6)}"${some(ALNUM, 6)}`, 'mysql://app:', '@10.0.0.1/app'],
  PostgreSQL: [`<${some(ALNUM, 12)}>`, 'postgres://app:', '@db/app'],
}

const preset = {
  id: '@secretlint/secretlint-rule-preset-recommend',
  rule: creator,
  rules: [{ id: '@secretlint/secretlint-rule-aws', options: { enableIDScanRule: true } }],
}

async function lint(content: string): Promise<readonly string[]> {
  const { messages } = await lintSource({
    source: { content, filePath: 'text', ext: '', contentType: 'text' },
    options: { config: { rules: [preset] }, noPhysicFilePath: true },
  })
  return messages.flatMap((message) => (message.type === 'message' ? [message.messageId] : []))
}

describe('the rules of secretlint', () => {
  test.each(Object.entries(EXAMPLES))('[RED9] %s is masked, and nothing beside it', (_, example) => {
    const [secret, before, after] = example
    const { text } = redact(`${before}${secret}${after}`)
    expect(text.replace(/\[redacted:[a-z-]+\]/g, '\u0001')).toBe(
      `${before.replace('https://hooks.slack.com/services/', '')}\u0001${after.replace('x-oauth-basic', '\u0001')}`,
    )
    expect(redact(text)).toEqual({ text, found: [] })
  })

  test('[RED9] what its own core reports is found, too', async () => {
    const search = (text: string): readonly Secret[] => findByRules(text, { spend() {} })
    const reported: string[] = []
    for (const [name, parts] of Object.entries(EXAMPLES)) {
      if ((await lint(parts.join(''))).length === 0) continue
      reported.push(name)
      expect([name, search(parts.join('')).length > 0]).toEqual([name, true])
    }
    expect(reported.length).toBeGreaterThan(7)
  })

  test('[RED9] are the ones that were looked at', () => {
    expect(loadRules().map(({ meta }) => meta.id.replace('@secretlint/secretlint-rule-', ''))).toEqual([
      'aws',
      'gcp',
      'privatekey',
      'npm',
      'basicauth',
      'slack',
      'sendgrid',
      'shopify',
      'github',
      'openai',
      'anthropic',
      'linear',
      '1password',
      'database-connection-string',
      'filter-comments',
    ])
  })

  test('[RED10] nothing in a text turns them off', () => {
    const [secret] = EXAMPLES['AWS role id'] ?? ['']
    for (const comment of ['secretlint-disable', 'secretlint-disable-next-line', 'secretlint-disable-line']) {
      const { text } = redact(`<!-- ${comment} -->\n${secret} ${comment}\n`)
      expect(text).not.toContain(secret)
    }
  })
})

function ruleOf(file: (content: string) => void): RuleCreator {
  return { meta: { id: 'made-up' }, create: () => ({ file: ({ content }) => file(content) }) }
}

describe('[RED11] nothing leaves when they', () => {
  test.each<[string, () => readonly RuleCreator[]]>([
    [
      'cannot be loaded',
      () => {
        throw new Error('no such package')
      },
    ],
    [
      'throw',
      () => [
        ruleOf((content) => {
          throw new Error(content)
        }),
      ],
    ],
    ['never end', () => [ruleOf((content) => void /^(\w+)+$/.test(content))]],
  ])('%s', (_, load) => {
    const search = createRuleSearch(load, { patienceMs: 100 })
    const text = `${'a'.repeat(70_000)} hunter2`
    const egress = guardEgress(() => ({ text, found: search(text) }))
    expect(egress).toEqual({ state: 'refused', reason: 'the rules of secretlint failed or took too long' })
  })
})

test('[RED5] they take time in proportion to the text', () => {
  const traps = [
    'https://',
    'xoxb-a-',
    '-----BEGIN PRIVATE KEY-----\n',
    'account',
    'secret_access_key ',
    'mongodb://a:',
  ]
  for (const trap of traps) expect(findSecrets(trap.repeat(20_000)).length).toBeGreaterThanOrEqual(0)
})

test('[RED16] a text for a log has no secrets', () => {
  const [secret] = EXAMPLES['npm token'] ?? ['']
  expect(toLogText(`see ${secret}`)).toBe('see [redacted:npm-token]')
})
