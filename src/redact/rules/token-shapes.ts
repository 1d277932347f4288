/** What a provider's token looks like: a beginning that nothing else has, and so many characters of an alphabet. */
export interface TokenShape {
  readonly kind: string
  readonly prefix: string
  readonly alphabet: Alphabet
  /** Characters behind the prefix: fewer are no token. */
  readonly least: number
  /** How many there usually are: how far a token is followed into the next line. */
  readonly usual: number
  /** The prefix is short or a word, so it counts only where a word begins. */
  readonly wordStart?: true
}

/** `hex`, letters and digits, those with `_`, with `-` too, with `.` too, and base64. */
type Alphabet = 'hex' | 'alnum' | 'upper' | 'word' | 'dashed' | 'dotted' | 'base64'

type Row = readonly [kind: string, prefixes: string, Alphabet, least: number, usual: number, wordStart?: true]

/**
 * Issuers that publish how their tokens look. Beginnings without a space between them share a shape. A token that is
 * longer than usual is taken whole.
 */
const ROWS: readonly Row[] = [
  ['aws-key', 'AKIA ASIA ABIA ACCA', 'upper', 16, 16],
  ['github-token', 'ghp_ gho_ ghu_ ghs_ ghr_', 'alnum', 36, 36],
  ['github-token', 'github_pat_', 'word', 22, 82],
  [
    'gitlab-token',
    'glpat- gldt- glrt- glcbt- glptt- glsoat- glft- glimt- glagent- glffct-',
    'dotted',
    20,
    20,
  ],
  ['anthropic-key', 'sk-ant-', 'dashed', 20, 101],
  ['openai-key', 'sk-proj- sk-svcacct- sk-admin- sk-None-', 'dashed', 20, 156],
  ['openrouter-key', 'sk-or-v1-', 'hex', 32, 64],
  ['openai-key', 'sk-', 'alnum', 32, 48, true],
  ['google-key', 'AIza', 'dashed', 35, 35],
  ['google-token', 'ya29.', 'dashed', 20, 140],
  ['google-secret', 'GOCSPX-', 'dashed', 20, 28],
  ['google-token', '1//0', 'dashed', 30, 99, true],
  ['slack-token', 'xoxb- xoxp- xoxa- xoxo- xoxr- xoxs- xoxe- xoxe.', 'dotted', 16, 72],
  ['slack-token', 'xapp-', 'dashed', 30, 97],
  ['slack-webhook', 'hooks.slack.com/services/ hooks.slack.com/workflows/', 'base64', 20, 44],
  ['stripe-key', 'sk_live_ sk_test_ rk_live_ rk_test_', 'alnum', 16, 99],
  ['webhook-secret', 'whsec_', 'base64', 24, 32],
  ['twilio-key', 'SK', 'hex', 32, 32, true],
  ['sendgrid-key', 'SG.', 'dotted', 40, 66, true],
  ['mailgun-key', 'key-', 'hex', 32, 32, true],
  ['npm-token', 'npm_', 'alnum', 36, 36],
  ['pypi-token', 'pypi-AgE', 'dashed', 50, 200],
  ['huggingface-token', 'hf_ api_org_', 'alnum', 30, 34, true],
  ['digitalocean-token', 'dop_v1_ doo_v1_ dor_v1_', 'hex', 64, 64],
  ['shopify-token', 'shpat_ shpca_ shppa_ shpss_', 'hex', 32, 32],
  ['square-token', 'sq0atp- sq0csp- sq0idp-', 'dashed', 22, 22],
  ['linear-key', 'lin_api_ lin_oauth_', 'alnum', 32, 40],
  ['notion-token', 'ntn_', 'alnum', 40, 46, true],
  ['notion-token', 'secret_', 'alnum', 43, 43, true],
  ['databricks-token', 'dapi', 'hex', 32, 32, true],
  ['vault-token', 'hvs. hvb. hvr.', 'dashed', 24, 95],
  ['doppler-token', 'dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.', 'dotted', 40, 43],
  ['groq-key', 'gsk_', 'alnum', 40, 52],
  ['xai-key', 'xai-', 'alnum', 60, 80],
  ['replicate-token', 'r8_', 'alnum', 37, 37, true],
  ['perplexity-key', 'pplx-', 'alnum', 40, 48],
  ['supabase-key', 'sbp_ sb_secret_', 'word', 20, 40],
  ['postman-key', 'PMAK-', 'dashed', 50, 59],
  ['grafana-token', 'glsa_ glc_', 'base64', 32, 46],
  ['newrelic-key', 'NRAK-', 'upper', 27, 27],
  ['sentry-token', 'sntrys_ sntryu_', 'base64', 40, 64],
  ['planetscale-token', 'pscale_tkn_ pscale_pw_ pscale_oauth_', 'dashed', 32, 43],
  ['fly-token', 'fo1_ fm1r_ fm2_', 'base64', 40, 100],
  ['atlassian-token', 'ATATT3 ATCTT3', 'base64', 40, 186],
  ['dockerhub-token', 'dckr_pat_ dckr_oat_', 'dashed', 24, 27],
  ['terraform-token', '.atlasv1.', 'dashed', 60, 67],
  ['azure-key', 'AccountKey= SharedAccessKey=', 'base64', 40, 88],
  ['onepassword-token', 'ops_eyJ', 'base64', 80, 900],
  ['figma-token', 'figd_ figo_', 'dashed', 30, 40],
  ['tailscale-key', 'tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook-', 'dashed', 16, 50],
  ['discord-webhook', 'discord.com/api/webhooks/ discordapp.com/api/webhooks/', 'base64', 60, 87],
  ['age-key', 'AGE-SECRET-KEY-1', 'upper', 58, 58],
]

export const TOKEN_SHAPES: readonly TokenShape[] = ROWS.flatMap(
  ([kind, prefixes, alphabet, least, usual, wordStart]) =>
    prefixes.split(' ').map((prefix) => ({
      kind,
      prefix,
      alphabet,
      least,
      usual,
      ...(wordStart === undefined ? {} : { wordStart }),
    })),
)

const TABLES: Readonly<Record<Alphabet, Uint8Array>> = {
  hex: toTable(/[0-9A-Fa-f]/),
  alnum: toTable(/[0-9A-Za-z]/),
  upper: toTable(/[0-9A-Z]/),
  word: toTable(/\w/),
  dashed: toTable(/[\w-]/),
  dotted: toTable(/[\w.-]/),
  base64: toTable(/[\w+/=-]/),
}

function toTable(member: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (member.test(String.fromCharCode(code)) ? 1 : 0))
}

interface Run {
  readonly alphabet: Alphabet
  readonly most: number
}

/** Where a run of characters of an alphabet ends, looking at no more than `most` of them. */
export function endOfRun(text: string, start: number, run: Run): number {
  const table = TABLES[run.alphabet]
  const limit = Math.min(text.length, start + run.most)
  let at = start
  while (at < limit && table[text.charCodeAt(at)] === 1) at += 1
  return at
}
