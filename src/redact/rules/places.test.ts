import { describe, expect, test } from 'vitest'
import { redact } from '../redact.ts'

const pw = 'Tr0ub4dor&3x'
const basic = Buffer.from(`deploy:${pw}`).toString('base64')
const some = 'a1B2c3D4e5F6g7H8i9J0'.repeat(4)
const session = some.slice(0, 32)

/** What is masked, and the text that it stands in. */
const EXAMPLES: Readonly<Record<string, readonly [secret: string, text: string]>> = {
  'docker config': [basic, `{"auths":{"registry.test":{"auth":"${basic}"}}}`],
  '.npmrc': [basic, `//registry.test/:_auth=${basic}`],
  '.netrc': [pw, `machine api.test\n  login deploy\n  password ${pw}\n`],
  '.netrc on one line': [pw, `default login deploy password ${pw}`],
  '.pgpass': ['hunter22', 'db.internal:5432:*:deploy:hunter22\n'],
  mysql: ['hunter22', 'mysql -u root -phunter22 app'],
  'mysqldump, quoted': [pw, `mysqldump -uroot -p'${pw}' app > dump.sql`],
  curl: ['hunter22', 'curl -s -u deploy:hunter22 https://api.test'],
  'curl in a list of arguments': [pw, `["curl", "--user", "deploy:${pw}", "https://api.test"]`],
  sshpass: ['hunter22', 'sshpass -p hunter22 ssh deploy@host.test'],
  'ssh-keygen': [pw, `ssh-keygen -t ed25519 -N "${pw}" -f key`],
  openssl: ['hunter22', 'openssl rsa -in key.pem -passin pass:hunter22'],
  'docker login': ['hunter22', 'docker login -u deploy -p hunter22 registry.test'],
  'redis-cli': ['hunter22', 'redis-cli -h cache -a hunter22 ping'],
  htpasswd: ['hunter22', 'htpasswd -bc users deploy hunter22'],
  sqlcmd: ['hunter22', 'sqlcmd -S host -U sa -P hunter22'],
  'basic authorization without a digit': [
    'Ym9iOnN3b3JkZmlzaA==',
    'Authorization: Basic Ym9iOnN3b3JkZmlzaA==',
  ],
  Figma: [
    `${['fi', 'gd_'].join('')}${some.slice(0, 40)}`,
    `token ${['fi', 'gd_'].join('')}${some.slice(0, 40)}`,
  ],
  Tailscale: [
    `${['ts', 'key-auth-k'].join('')}123CNTRL-${session}`,
    `--authkey ${['ts', 'key-auth-k'].join('')}123CNTRL-${session}`,
  ],
  'Discord webhook': [
    `${['discord.com', '/api/webhooks/'].join('')}123456789012345678/${some.slice(0, 68)}`,
    `https://${['discord.com', '/api/webhooks/'].join('')}123456789012345678/${some.slice(0, 68)}`,
  ],
  Cookie: [session, `Cookie: theme=dark; session=${session}; lang=en`],
  'Set-Cookie': [`s%3A${session}.x`, `Set-Cookie: connect.sid=s%3A${session}.x; Path=/; HttpOnly`],
  'a cookie in JSON': [session, `{"headers":{"cookie":"sid=${session}"}}`],
  'a jar of cookies': [session, `#HttpOnly_a.test\tFALSE\t/\tTRUE\t1999999999\tsession\t${session}`],
  otpauth: ['JBSWY3DPEHPKPXP', 'otpauth://totp/app:me?secret=JBSWY3DPEHPKPXP&issuer=app'],
  'TOTP in groups': ['JBSW Y3DP EHPK 3PXP', 'TOTP: JBSW Y3DP EHPK 3PXP'],
  'a password in a sentence': [pw, `The password for staging is ${pw} now.`],
  'a password that was changed': [pw, `the password was changed to "${pw}"`],
  'in German': ['hunter22x', 'Passwort: hunter22x'],
}

describe('places of a password', () => {
  test.each(Object.entries(EXAMPLES))(
    '[RED23] %s: it is masked, and nothing beside it',
    (_, [secret, text]) => {
      const [before = '', after = ''] = text.split(secret)
      const { text: out } = redact(text)
      expect([out.startsWith(before), out.endsWith(after)]).toEqual([true, true])
      expect(out.slice(before.length, out.length - after.length)).toMatch(/^\[redacted:[a-z-]+\](?:=+)?$/)
      expect(redact(out)).toEqual({ text: out, found: [] })
    },
  )

  test.each([
    'mysql -u root -p app',
    'mysql -P 3306 -p$DB_PASSWORD app',
    'curl -u "$USER:$PASSWORD" https://api.test -o page:1',
    'docker run -p 8080:80 nginx && docker login registry.test',
    'docker login -u deploy --password-stdin',
    'sshpass -p <password> ssh host',
    'zip -r out.zip src -x "*.log"',
    'The password is required and must be at least 12 characters.',
    'The password is hashed with argon2id, the passphrase was sha256-hashed.',
    'Cookie: theme=dark; lang=en-GB',
    'res.setHeader("Set-Cookie", serialize(name, value, options))',
    'src/a.ts:5432:12:error:semi',
    'http://localhost:5432/app:main:head',
    'import { machine } from "./machine"; login(password)',
    '{"auth":"required","otp":"off"}',
    'MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ',
  ])('[RED4] %s', (text) => {
    expect(redact(text).text).toBe(text)
  })
})

describe('a private key without its first line', () => {
  const body = Array.from({ length: 4 }, (_, n) => some.slice(n, n + 64)).join('\n')
  const end = ['-----END ', 'PRIVATE KEY-----'].join('')

  test.each([
    ['as it is', `${body}\n${end}`, '[redacted:private-key]'],
    ['behind words', `rest:\n${body}\n${end}\nok`, 'rest:\n[redacted:private-key]\nok'],
    [
      'numbered',
      [...body.split('\n'), end].map((line, n) => `${n + 2}\t${line}`).join('\n'),
      '2\t[redacted:private-key]',
    ],
    ['on one line', JSON.stringify(`${body}\n${end}`), '"[redacted:private-key]"'],
  ])('[RED24] %s is masked up to its last one', (_, text, masked) => {
    expect(redact(text).text).toBe(masked)
  })

  test('[RED24] it is known by how keys begin, too, and a certificate is left alone', () => {
    const rsa = `MIIEpAIBAAKCAQEA${some.slice(0, 48)}\n${body}`
    expect(redact(`a\n${rsa}\n\nword of it`).text).toBe('a\n[redacted:private-key]\n\nword of it')
    const certificate = `-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+g${some.slice(0, 52)}\n-----END CERTIFICATE-----`
    expect(redact(certificate).text).toBe(certificate)
  })
})
