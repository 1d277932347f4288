import type { Usage } from '#model'
import type { PriceList } from '#wire'
import { PRICE_SOURCE, PRICES } from './price-list.ts'

/** What models cost. */
export interface Prices extends PriceList {
  /** The price of a model by the name an agent writes; `undefined` when nobody knows it. Never that of a similar one. */
  find(model: string): Price | undefined
}

/** US dollars for a million tokens. */
export interface Price {
  readonly base: Rates
  /** For tokens of one kind beyond the first 200,000 of a message. */
  readonly beyond: Rates
}

/** In the order of `countsOf`. */
export type Rates = readonly [
  input: number,
  output: number,
  cacheRead: number,
  cache5m: number,
  cache1h: number,
]

/** Counts of tokens of each kind, of any number of messages: first those at base price, then those beyond it. */
export type Counts = Float64Array

const KINDS = 5
const OUTPUT = 1
/** Of one kind in one message: what comes beyond has another price. */
export const BASE_TOKENS = 200_000

/** No tokens. Counts are whole numbers: their sum is exact, in whatever order they are added. */
export function createCounts(): Counts {
  return new Float64Array(KINDS * 2)
}

/** Adds what one message used. */
export function addCounts(counts: Counts, usage: Usage): void {
  const long = Math.min(usage.cacheCreation1h, usage.cacheCreation)
  add(counts, 0, usage.input)
  add(counts, 1, usage.output)
  add(counts, 2, usage.cacheRead)
  add(counts, 3, usage.cacheCreation - long)
  add(counts, 4, long)
}

/** Adds what several messages used, of which so much was beyond the first tokens of a message. */
export function addSums(
  counts: Counts,
  { usage, long, beyond }: { readonly usage: Usage; readonly long: number; readonly beyond: Rates },
): void {
  const sums = [usage.input, usage.output, usage.cacheRead, usage.cacheCreation - long, long]
  for (const [kind, sum] of sums.entries()) {
    const above = beyond[kind] ?? 0
    counts[kind] = (counts[kind] ?? 0) + sum - above
    counts[kind + KINDS] = (counts[kind + KINDS] ?? 0) + above
  }
}

/** What so many tokens cost, in US dollars. */
export function costOf(counts: Counts, { base, beyond }: Price): number {
  let cost = 0
  for (let kind = 0; kind < KINDS; kind++) {
    cost += (counts[kind] ?? 0) * (base[kind] ?? 0) + (counts[kind + KINDS] ?? 0) * (beyond[kind] ?? 0)
  }
  return cost / 1_000_000
}

/** What they would cost had no cache been read or written: all that went in at the price of input. */
export function uncachedCostOf(counts: Counts, { base, beyond }: Price): number {
  let cost = 0
  for (let kind = 0; kind < KINDS; kind++) {
    const rate = kind === OUTPUT ? OUTPUT : 0
    cost += (counts[kind] ?? 0) * (base[rate] ?? 0) + (counts[kind + KINDS] ?? 0) * (beyond[rate] ?? 0)
  }
  return cost / 1_000_000
}

function add(counts: Counts, kind: number, tokens: number): void {
  const first = Math.min(tokens, BASE_TOKENS)
  counts[kind] = (counts[kind] ?? 0) + first
  counts[kind + KINDS] = (counts[kind + KINDS] ?? 0) + tokens - first
}

/** The prices that come with this version. */
export function embeddedPrices(): Prices {
  const table = (embedded ??= readTable(PRICES))
  return { ...PRICE_SOURCE, find: (model) => findPrice(table, model) }
}

let embedded: ReadonlyMap<string, Price> | undefined

function readTable(rows: string): ReadonlyMap<string, Price> {
  const table = new Map<string, Price>()
  for (const row of rows.trim().split('\n')) {
    const [name = '', ...figures] = row.split(' ')
    const price = toPrice(figures.map(Number))
    table.set(name, price)
    // What a cloud sells under a longer name is the model of the shorter one, unless that has a price of its own.
    const plain = plainName(name)
    if (name === `anthropic.${name.slice('anthropic.'.length)}` && !table.has(plain)) table.set(plain, price)
  }
  return table
}

function toPrice([
  input = 0,
  output = 0,
  read = Number.NaN,
  write = Number.NaN,
  ...more
]: readonly number[]): Price {
  const base = toRates(input, output, read, write)
  const [input2 = input, output2 = output, read2 = Number.NaN, write2 = Number.NaN] = more
  return { base, beyond: more.length === 0 ? base : toRates(input2, output2, read2, write2) }
}

/** Where a list has no price for the cache, reading costs what input costs; keeping an hour costs twice that. */
function toRates(input: number, output: number, read: number, write: number): Rates {
  return [
    input,
    output,
    Number.isNaN(read) ? input : read,
    Number.isNaN(write) ? input * 1.25 : write,
    input * 2,
  ]
}

function findPrice(table: ReadonlyMap<string, Price>, model: string): Price | undefined {
  const name = model.toLowerCase()
  const exact = table.get(name)
  if (exact !== undefined) return exact
  const plain = plainName(name)
  return table.get(plain) ?? table.get(plain.replace(/-\d{8}$/, ''))
}

/** Without what clouds and clients add: `us.anthropic.`, `anthropic/`, `-v1:0`, `@20251001`, `[1m]`. */
function plainName(name: string): string {
  return name
    .slice(name.lastIndexOf('/') + 1)
    .replace(/^(?:[a-z]{2,6}\.)?anthropic\./, '')
    .replace(/\[1m\]$/, '')
    .replace(/-v\d{1,2}(?::\d{1,2})?$/, '')
    .replace('@', '-')
}
