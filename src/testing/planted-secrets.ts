import { createRandom } from './corpus-random.ts'
import type { Random } from './corpus-random.ts'

/** A made-up secret of a listed kind, in a text in which one might stand. None was ever valid. */
export interface PlantedSecret {
  readonly kind: string
  readonly secret: string
  readonly text: string
  /** `issued` are tokens of providers and private keys: none of them may get through. */
  readonly sort: 'issued' | 'context'
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const HEX = '0123456789abcdef'
const UPPER = `${LOWER.toUpperCase()}234567`
const ALNUM = `${LOWER}${LOWER.toUpperCase()}0123456789`
const DASHED = `${ALNUM}_-`
const BASE64 = `${ALNUM}+/`

type Make = (random: Random) => string

function some(alphabet: string, count: number): Make {
  return (random) =>
    Array.from({ length: count }, () => alphabet[random.int(0, alphabet.length - 1)]).join('')
}

/** Pieces one after another. The beginnings are put together here, so that no file holds what looks like a token. */
function row(...pieces: readonly (string | Make)[]): Make {
  return (random) => pieces.map((piece) => (typeof piece === 'string' ? piece : piece(random))).join('')
}

function key(label: string): Make {
  return (random) => {
    const lines = Array.from({ length: random.int(3, 12) }, () => some(BASE64, 64)(random))
    return [
      `-----BEGIN ${label}-----`,
      ...lines,
      `${some(BASE64, 30)(random)}==`,
      `-----END ${label}-----`,
    ].join('\n')
  }
}

const ISSUED: Readonly<Record<string, Make>> = {
  'aws-key': row('AK', 'IA', some(UPPER, 16)),
  'aws-session-key': row('AS', 'IA', some(UPPER, 16)),
  'github-classic': row('gh', 'p_', some(ALNUM, 36)),
  'github-server': row('gh', 's_', some(ALNUM, 36)),
  'github-fine': row('github', '_pat_', some(ALNUM, 22), '_', some(ALNUM, 59)),
  gitlab: row('gl', 'pat-', some(DASHED, 20)),
  anthropic: row('sk-', 'ant-api03-', some(DASHED, 93), 'AA'),
  'openai-project': row('sk-', 'proj-', some(DASHED, 74), 'T3Blbk', 'FJ', some(DASHED, 74)),
  'openai-legacy': row('sk', '-', some(ALNUM, 20), 'T3Blbk', 'FJ', some(ALNUM, 20)),
  google: row('AI', 'za', some(DASHED, 35)),
  'google-oauth': row('ya', '29.', some(DASHED, 120)),
  'slack-bot': row('xo', 'xb-', some('0123456789', 12), '-', some('0123456789', 12), '-', some(ALNUM, 24)),
  stripe: row('sk', '_live_', some(ALNUM, 24)),
  'stripe-long': row('rk', '_live_', some(ALNUM, 99)),
  sendgrid: row('SG', '.', some(DASHED, 22), '.', some(DASHED, 43)),
  npm: row('npm', '_', some(ALNUM, 36)),
  pypi: row('pypi-', 'AgEIcHlwaS5vcmc', some(DASHED, 150)),
  huggingface: row('hf', '_', some(ALNUM, 34)),
  digitalocean: row('dop', '_v1_', some(HEX, 64)),
  twilio: row('S', 'K', some(HEX, 32)),
  telegram: row(some('123456789', 10), ':AA', some(DASHED, 33)),
  discord: row('M', some(ALNUM, 23), '.', some(DASHED, 6), '.', some(DASHED, 27)),
  'json-web-token': row(
    'eyJ',
    'hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ',
    some(ALNUM, 60),
    '.',
    some(DASHED, 43),
  ),
  'azure-storage': row('Account', 'Key=', some(BASE64, 86), '=='),
  linear: row('lin', '_api_', some(ALNUM, 40)),
  'rsa-key': key('RSA PRIVATE KEY'),
  'pkcs8-key': key('PRIVATE KEY'),
  'openssh-key': key('OPENSSH PRIVATE KEY'),
  'ec-key': key('EC PRIVATE KEY'),
  'pgp-key': key('PGP PRIVATE KEY BLOCK'),
  figma: row('fi', 'gd_', some(DASHED, 40)),
  tailscale: row('ts', 'key-auth-k', some(ALNUM, 11), 'CNTRL-', some(ALNUM, 32)),
  'discord-webhook': row('discord.com', '/api/webhooks/', some('123456789', 18), '/', some(DASHED, 68)),
  'key-without-header': (random) => key('RSA PRIVATE KEY')(random).replace(/^.*\n/, ''),
}

const password = row(some(ALNUM, 7), some('!#*-_', 1), some('0123456789', 3), some(ALNUM, 5))

/** The value, and what stands around it. */
const CONTEXT: Readonly<Record<string, readonly [Make, before: string, after: string]>> = {
  setting: [password, 'export DB_PASSWORD=', '\nexport PORT=8080\n'],
  'json-password': [password, '{"user": "app", "password": "', '"}'],
  'aws-secret': [some(BASE64, 40), 'aws_secret_access_key = ', '\nregion = eu-west-1\n'],
  'api-key': [some(HEX, 32), 'api_key: "', '"\n'],
  'client-secret': [row(some(ALNUM, 30), '7a', some('0123456789', 3)), "client_secret='", "'"],
  bearer: [
    row(some(ALNUM, 36), some('0123456789', 5)),
    'curl -H "Authorization: Bearer ',
    '" https://api.test/v1',
  ],
  'url-password': [row(some(ALNUM, 12), some('0123456789', 3)), 'postgres://app:', '@db.internal:5432/app'],
  'yaml-token': [some(HEX, 40), 'auth:\n  token: ', '\n  retries: 3\n'],
}

/** `user:password` in base64. */
const basic: Make = (random) => Buffer.from(`deploy:${password(random)}`).toString('base64')

/** Where programs and their files have passwords. */
const PLACES: typeof CONTEXT = {
  'docker-auth': [basic, '{"auths":{"registry.test":{"auth":"', '"}}}'],
  netrc: [password, 'machine api.test\n  login deploy\n  password ', '\n'],
  pgpass: [row(some(ALNUM, 14), some('0123456789', 2)), 'db.internal:5432:app:deploy:', ''],
  mysql: [password, 'mysql -u root -p', ' app < dump.sql'],
  curl: [password, 'curl -s -u deploy:', ' https://api.test/v1'],
  sshpass: [password, 'sshpass -p ', ' ssh deploy@host.test'],
  basic: [basic, 'Authorization: Basic ', '\r\nAccept: */*'],
  cookie: [row(some(ALNUM, 30), some('0123456789', 2)), 'Cookie: theme=dark; session=', '; lang=en'],
  'set-cookie': [
    row('s%3A', some(ALNUM, 24), '.', some(ALNUM, 43)),
    'Set-Cookie: sid=',
    '; Path=/; HttpOnly',
  ],
  totp: [row(some(UPPER, 15), '7'), 'otpauth://totp/app:me?secret=', '&issuer=app'],
  'said-password': [row(some(ALNUM, 7), '!', some('0123456789', 3), 'xQ'), 'The password is ', ' for now.'],
}

const AROUND: readonly (readonly [string, string])[] = [
  ['', ''],
  ['Use ', ' for the deployment.'],
  ['TOKEN=', '\n'],
  ['const client = connect("', '")\n'],
  ['{"credentials":{"value":"', '"}}'],
  ['The value\n', '\nwas rotated.'],
]

/** As many secrets as asked for, of every listed kind in turn; the same for the same seed. */
export function plantSecrets(seed: number, count: number): readonly PlantedSecret[] {
  const random = createRandom(seed)
  const issued = Object.entries(ISSUED)
  const context = Object.entries({ ...CONTEXT, ...PLACES })
  return Array.from({ length: count }, (_, index) => {
    const at = index % (issued.length + context.length)
    const [kind, make] = issued[at] ?? ['', row('')]
    if (at < issued.length) {
      const secret = make(random)
      const [before, after] = AROUND[random.int(0, AROUND.length - 1)] ?? ['', '']
      return { kind, secret, text: `${before}${secret}${after}`, sort: 'issued' }
    }
    const [name, [value, before, after]] = context[at - issued.length] ?? ['', [row(''), '', '']]
    const secret = value(random)
    return { kind: name, secret, text: `${before}${secret}${after}`, sort: 'context' }
  })
}
