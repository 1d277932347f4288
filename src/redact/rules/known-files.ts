import type { Effort, Secret } from '../secret.ts'
import { isBasic, isValue } from './values.ts'

interface Place {
  readonly kind: string
  /** Everything that has the pattern has this. */
  readonly mark: string
  /** With a group `value`. */
  readonly pattern: RegExp
  readonly isOne: (value: string) => boolean
}

/** Places of files whose form says that a password stands there. */
const PLACES: readonly Place[] = [
  {
    // ~/.docker/config.json
    kind: 'docker-auth',
    mark: '"auth"',
    pattern: /"auth"[ \t\n]{0,8}:[ \t\n]{0,8}"(?<value>[\w+/=-]{8,2048})"/dg,
    isOne: isBasic,
  },
  {
    // .npmrc
    kind: 'npm-auth',
    mark: '_auth',
    pattern: /_auth[ \t]{0,4}=[ \t]{0,4}"?(?<value>[\w+/=-]{8,2048})/dg,
    isOne: isBasic,
  },
  {
    // .netrc
    kind: 'password',
    mark: 'login',
    pattern:
      /\b(?:machine\s{1,8}\S{1,256}|default)\s{1,8}(?:(?:login|account)\s{1,8}\S{1,256}\s{1,8}){0,2}password\s{1,8}(?<value>\S{3,256})/dg,
    isOne: isValue,
  },
  {
    // .pgpass: host, port, database, user, password
    kind: 'password',
    mark: ':',
    pattern:
      /:(?:54\d\d|6432|26257|\*):(?<=(?:^|[\s"'=])(?:[\w.-]{1,256}|\*):[^:\n]{1,6}:)[^:\s]{1,128}:[^:\s]{1,128}:(?<value>[^\s:"'\\]{3,256})(?=$|[\s"'\\])/dgm,
    isOne: isValue,
  },
  {
    kind: 'totp-secret',
    mark: 'otpauth',
    pattern: /otpauth(?:-migration)?:\/\/[^\s"'<>]{0,512}?[?&](?:secret|data)=(?<value>[\w%+/=-]{8,2048})/dg,
    isOne: isValue,
  },
  {
    kind: 'totp-secret',
    mark: '',
    pattern:
      /(?:t?otp|2fa|mfa|authenticator)[\w -]{0,24}["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?<value>[A-Z2-7]{4}(?:[ -]?[A-Z2-7]{4}){3,31}={0,6})(?![\w])/dgi,
    isOne: (value) => value.toUpperCase() === value && /\d/.test(value),
  },
]

/** Passwords at the places where files of a known form have them. */
export function findInFiles(text: string, effort: Effort): readonly Secret[] {
  const found: Secret[] = []
  for (const { kind, mark, pattern, isOne } of PLACES) {
    if (!text.includes(mark)) continue
    effort.spend(text.length)
    for (const { indices } of text.matchAll(pattern)) {
      const [start, end] = indices?.groups?.['value'] ?? [0, 0]
      if (isOne(text.slice(start, end))) found.push({ kind, start, end, confidence: 'likely' })
    }
  }
  return found
}
