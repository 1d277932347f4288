import { createScan } from './scan.ts'

/** Kinds of places that say that a secret stands there. */
export type Family = 'cookies' | 'commands' | 'files'

/** A word that every place of a family has. */
const WORDS =
  /(cookie|\t(?:true|false)\t\/)|(curl|mysql|mariadb|mycli|http[ \t"']|sshpass|redis-cli|mongo|sqlcmd|bcp[ \t"']|zip[ \t"']|ldap|docker|podman|nerdctl|helm[ \t"']|oras[ \t"']|skopeo|ssh-keygen|openssl|htpasswd|7z)|("auth"|_auth|login|:(?:54\d\d|6432|26257|\*):|otp|2fa|mfa|authenticator)/i

const BEGINNINGS =
  'coo cur mys mar myc htt ssh red mon sql bcp zip lda doc pod ner hel ora sko ope htp 7z "au _au log :54 :64 :26 :*: otp 2fa mfa aut'
const findWord = createScan(WORDS, ['\ttr', '\tfa', ...BEGINNINGS.split(' ')])

const NONE: ReadonlySet<Family> = new Set()

/** What of them a text may hold: most hold none, and each takes its time. */
export function findFamilies(text: string): ReadonlySet<Family> {
  let found: Set<Family> | undefined
  for (let match = findWord(text, 0); match !== null; match = findWord(text, match.index + 2)) {
    const [, cookie, command] = match
    found ??= new Set()
    found.add(cookie !== undefined ? 'cookies' : command !== undefined ? 'commands' : 'files')
    if (found.size === 3) break
  }
  return found ?? NONE
}
