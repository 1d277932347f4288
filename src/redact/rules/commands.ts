import type { Effort, Secret } from '../secret.ts'
import { isValue } from './values.ts'

/** Programs that take a password as an argument. */
const PROGRAM =
  /(?:(mysql\w*|mariadb(?:-\w+)?|mycli)|(curl)|(http)|(sshpass)|(redis-cli)|(mongo\w*)|(sqlcmd|bcp|unzip|zip)|(ldap\w+)|(docker|podman|nerdctl|helm|oras|skopeo)|(ssh-keygen)|(openssl)|(htpasswd)|(7z[az]?))(?:\.exe)?(?=["']?[ \t,])/g

/** Between an option and its value, also in a list of arguments. */
const GAP = String.raw`(?:[ \t]+|=|["'],[ \t]*["'])["']?`
const LEAD = String.raw`(?<=[ \t"'])`
const VALUE = String.raw`(?<value>[^\s"'\`<>()]{3,256})`

/** How each of them takes it, in the order of the groups above. */
const OPTIONS: readonly RegExp[] = [
  `${LEAD}-p["']?${VALUE}`,
  `${LEAD}(?:(?:-u|-U|--user|--proxy-user)(?:${GAP}|["']?))[^\\s"':]{0,128}:${VALUE}`,
  `${LEAD}(?:-a|--auth)${GAP}[^\\s"':]{0,128}:${VALUE}`,
  `${LEAD}-p(?:${GAP}|["']?)${VALUE}`,
  `${LEAD}(?:-a|--pass)${GAP}${VALUE}`,
  `${LEAD}-p${GAP}${VALUE}`,
  `${LEAD}-P(?:${GAP}|["']?)${VALUE}`,
  `${LEAD}-w${GAP}${VALUE}`,
  `\\blogin\\b.{0,200}?${LEAD}-p(?:${GAP}|["']?)${VALUE}`,
  `${LEAD}-[NP]${GAP}${VALUE}`,
  `\\bpass:${VALUE}`,
  `${LEAD}-[A-Za-z]{0,6}b[A-Za-z]{0,6}[ \\t]+\\S{1,200}[ \\t]+\\S{1,200}[ \\t]+["']?${VALUE}`,
  `${LEAD}-p["']?${VALUE}`,
].map((source) => new RegExp(source, 'd'))

const LONGEST = 400
/** Behind the arguments of a program. */
const ENDS = /(?<!\\)\n|\s(?:[|;&]|\|\||&&)\s/

/** `mysql -phunter2`, `curl -u user:hunter2`, `sshpass -p hunter2`: the password. */
export function findInCommands(text: string, effort: Effort): readonly Secret[] {
  const found: Secret[] = []
  for (const match of text.matchAll(PROGRAM)) {
    if (/[\w-]/.test(text.charAt(match.index - 1))) continue
    const from = match.index + match[0].length
    const [args = ''] = text.slice(from, from + LONGEST).split(ENDS, 1)
    effort.spend(args.length + 32)
    const option = OPTIONS[match.slice(1).findIndex((name) => name !== undefined)]
    const [start, end] = option?.exec(args)?.indices?.groups?.['value'] ?? [0, 0]
    const value = args.slice(start, end).replace(/[.,;&|\\]+$/, '')
    if (!isValue(value)) continue
    found.push({
      kind: 'password',
      start: from + start,
      end: from + start + value.length,
      confidence: 'likely',
    })
  }
  return found
}
