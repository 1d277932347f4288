import { ThroughlineError } from '#base'
import { addUsage, compactionBillKey, NO_USAGE, type Usage } from '#model'
import type { UsageReport, UsageRequest, UsageRow, UsageTotals } from '#wire'
import { findCalendar, findDay } from './calendar.ts'
import {
  addCounts,
  addSums,
  costOf,
  createCounts,
  uncachedCostOf,
  type Counts,
  type Price,
  type Prices,
  type Rates,
} from './price.ts'
import type { StoredBill, StoredCompaction } from './store.ts'

export interface UsageOptions {
  readonly prices: Prices
  /** False while sessions are still missing. Default: true. */
  readonly complete?: boolean
  /** Every compaction, of every file. */
  readonly compactions?: Iterable<StoredCompaction>
  /** What a session is called, for rows by session. */
  readonly nameOf?: (session: string) => string | undefined
}

/** `billed`: keys of what is billed. */
type Adding = UsageOptions & { readonly billed?: ReadonlySet<string> }

/**
 * Tokens and what they cost, whatever the order of the bills. A message that stands in several files is counted once,
 * for the session that was created first. Rows by day come in order; others with the most expensive first.
 */
export function toUsageReport(
  bills: Iterable<StoredBill>,
  request: UsageRequest,
  options: UsageOptions,
): UsageReport {
  const isAsked = toFilter(request)
  const billed = new Set<string>()
  const asked = function* (): Generator<StoredBill> {
    for (const bill of settle(bills)) {
      if (!isAsked(bill) || isFree(bill)) continue
      billed.add(bill.key)
      yield bill
    }
  }
  return addUp(asked(), addBill, { request, options: { ...options, billed } })
}

/** What several messages used that were sent at about one time, with one model, in one folder, by one session. */
export interface Spent extends Pick<StoredBill, 'at' | 'model' | 'workdir' | 'session' | 'usage'> {
  readonly messages: number
  /** Tokens that a cache was to keep for an hour. */
  readonly long: number
  /** Of each kind, the tokens beyond the first of a message. */
  readonly beyond: Rates
}

/** The same of what was added up before. */
export function toSpentReport(
  spent: Iterable<Spent>,
  request: UsageRequest,
  options: UsageOptions,
): UsageReport {
  const isAsked = toFilter(request)
  return addUp([...spent].filter(isAsked), addSpent, { request, options })
}

function addUp<One extends Pick<StoredBill, 'at' | 'model' | 'workdir' | 'session'>>(
  all: Iterable<One>,
  add: (tally: Tally, one: One) => void,
  { request, options }: { readonly request: UsageRequest; readonly options: Adding },
): UsageReport {
  const { prices, complete = true, nameOf } = options
  const rowKeyOf = toRowKey(request)
  const isAsked = toFilter(request)
  const rows = new Map<string, Tally>()
  const total = createTally()
  for (const one of all) {
    const key = rowKeyOf(one)
    let row = rows.get(key)
    if (row === undefined) {
      row = createTally()
      rows.set(key, row)
    }
    add(row, one)
    add(total, one)
  }
  const priceOf = rememberPrices(prices)
  const toRow = ([key, tally]: readonly [string, Tally]): UsageRow => {
    const name = request.by === 'session' ? nameOf?.(key) : undefined
    const models = [...tally.models.keys()].filter((model) => model !== '').toSorted(inOrder)
    return { key, ...(name === undefined ? {} : { name }), models, ...toTotals(tally, priceOf) }
  }
  const unpriced = [...total.models.keys()].filter((model) => model !== '' && priceOf(model) === undefined)
  return {
    by: request.by,
    rows: [...rows].map(toRow).toSorted(request.by === 'day' ? byKey : byCost),
    total: toTotals(total, priceOf),
    prices: { source: prices.source, dated: prices.dated },
    compactions: sumUp(options.compactions ?? [], isAsked, options.billed),
    unpriced: unpriced.toSorted(inOrder),
    complete,
  }
}

/** Nothing was used: what is copied into a session of another agent says so. */
function isFree({ usage }: StoredBill): boolean {
  return usage.input + usage.output + usage.cacheRead + usage.cacheCreation === 0
}

/** Every compaction once, in how many files ever it stands. */
function sumUp(
  compactions: Iterable<StoredCompaction>,
  isAsked: (one: StoredCompaction) => boolean,
  billed: ReadonlySet<string> = new Set(),
): UsageReport['compactions'] {
  const found = new Map<string, StoredCompaction>()
  for (const one of compactions) {
    if (!isAsked(one)) continue
    // Without a name of its own it is named by its place in its file.
    const key = one.key.startsWith('@') ? `${one.path} ${one.key}` : one.key
    const known = found.get(key)
    if (known === undefined || (one.tokens ?? -1) > (known.tokens ?? -1)) found.set(key, one)
  }
  const all = [...found.values()]
  return {
    count: all.length,
    tokens: all.reduce((sum, { tokens = 0 }) => sum + tokens, 0),
    unknown: all.filter(({ tokens }) => tokens === undefined).length,
    unbilled: all.filter(({ unseen, key }) => unseen && !billed.has(compactionBillKey(key))).length,
  }
}

/** Every message once. It belongs to the oldest session that has it, with that file's figures unless a copy has more. */
function settle(bills: Iterable<StoredBill>): Iterable<StoredBill> {
  const messages = new Map<string, { owner: StoredBill; figures: StoredBill }>()
  for (const bill of bills) {
    const message = messages.get(bill.key)
    if (message === undefined) messages.set(bill.key, { owner: bill, figures: bill })
    else {
      if (isOlder(bill, message.owner)) message.owner = bill
      // Figures only ever grow: a copy may have the last line where the original was torn.
      const more = bill.usage.output - message.figures.usage.output
      if (more > 0 || (more === 0 && isOlder(bill, message.figures))) message.figures = bill
    }
  }
  return settled(messages.values())
}

function* settled(
  messages: Iterable<{ readonly owner: StoredBill; readonly figures: StoredBill }>,
): Generator<StoredBill> {
  for (const { owner, figures } of messages) {
    const moreOutput = figures.usage.output > owner.usage.output
    yield moreOutput ? { ...owner, usage: figures.usage } : owner
  }
}

function isOlder(a: StoredBill, b: StoredBill): boolean {
  if (a.createdAt !== b.createdAt) {
    // A session that does not say when it began is no proof of anything.
    return a.createdAt !== '' && (b.createdAt === '' || a.createdAt < b.createdAt)
  }
  if (a.session !== b.session) return a.session < b.session
  return a.path < b.path
}

/** What was added up so far: for each model how many messages, and how many tokens of each kind. */
interface Tally {
  readonly models: Map<string, { messages: number; usage: MutableUsage; readonly counts: Counts }>
}

type MutableUsage = { -readonly [Kind in keyof Usage]: number }

function createTally(): Tally {
  return { models: new Map() }
}

function addBill(tally: Tally, { model, usage }: StoredBill): void {
  addCounts(addMessages(tally, { model, usage, messages: 1 }), usage)
}

function addSpent(tally: Tally, spent: Spent): void {
  addSums(addMessages(tally, spent), spent)
}

function addMessages(
  { models }: Tally,
  { model = '', usage, messages }: Pick<Spent, 'model' | 'usage' | 'messages'>,
): Counts {
  let sum = models.get(model)
  if (sum === undefined) {
    sum = { messages: 0, usage: { ...NO_USAGE }, counts: createCounts() }
    models.set(model, sum)
  }
  sum.messages += messages
  sum.usage.input += usage.input
  sum.usage.output += usage.output
  sum.usage.cacheRead += usage.cacheRead
  sum.usage.cacheCreation += usage.cacheCreation
  sum.usage.cacheCreation5m += usage.cacheCreation5m
  sum.usage.cacheCreation1h += usage.cacheCreation1h
  return sum.counts
}

function toTotals({ models }: Tally, priceOf: (model: string) => Price | undefined): UsageTotals {
  let usage = NO_USAGE
  let messages = 0
  let cost = 0
  let uncachedCost = 0
  let unpricedMessages = 0
  // In the order of their names: dollars have fractions, and their sum depends on the order.
  for (const [model, sum] of [...models].toSorted(byKeyOf)) {
    const price = priceOf(model)
    usage = addUsage(usage, sum.usage)
    messages += sum.messages
    if (price === undefined) unpricedMessages += sum.messages
    else {
      cost += costOf(sum.counts, price)
      uncachedCost += uncachedCostOf(sum.counts, price)
    }
  }
  return { usage, messages, cost, uncachedCost, unpricedMessages }
}

function rememberPrices(prices: Prices): (model: string) => Price | undefined {
  const known = new Map<string, Price | undefined>()
  return (model) => {
    if (!known.has(model)) known.set(model, prices.find(model))
    return known.get(model)
  }
}

function toRowKey({
  by,
  timeZone,
}: UsageRequest): (bill: Pick<StoredBill, 'at' | 'model' | 'workdir' | 'session'>) => string {
  switch (by) {
    case 'day':
      return toDay(timeZone)
    case 'model':
      return ({ model = '' }) => model
    case 'workdir':
      return ({ workdir = '' }) => workdir
    case 'session':
      return ({ session }) => session
  }
}

/** What days and folders are asked of. */
type Placed = Pick<StoredBill, 'at' | 'workdir'>

function toDay(timeZone = 'UTC'): (bill: Placed) => string {
  const calendar = findCalendar(timeZone)
  if (calendar === undefined) {
    throw new ThroughlineError('request-invalid', `nobody knows the time zone ${timeZone}`, {
      hint: 'Use a name such as Europe/Berlin, or UTC.',
    })
  }
  return ({ at }) => (at === undefined ? '' : calendar.dayOf(at))
}

function toFilter({ since, until, workdir, timeZone }: UsageRequest): (bill: Placed) => boolean {
  for (const day of [since, until]) {
    if (day === undefined || findDay(day) !== undefined) continue
    throw new ThroughlineError('request-invalid', `${day} is no day`, { hint: 'Write days as 2026-11-15.' })
  }
  const dayOf = toDay(timeZone)
  const isInTime = (bill: Placed): boolean => {
    if (since === undefined && until === undefined) return true
    const day = dayOf(bill)
    return day !== '' && (since === undefined || day >= since) && (until === undefined || day <= until)
  }
  if (workdir === undefined) return isInTime
  const below = workdir.endsWith('/') ? workdir : `${workdir}/`
  return (bill) => {
    const place = bill.workdir
    return place !== undefined && (place === workdir || place.startsWith(below)) && isInTime(bill)
  }
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function byKeyOf<Value>(a: readonly [string, Value], b: readonly [string, Value]): number {
  return inOrder(a[0], b[0])
}

function byKey(a: UsageRow, b: UsageRow): number {
  return inOrder(a.key, b.key)
}

function byCost(a: UsageRow, b: UsageRow): number {
  return b.cost - a.cost || b.usage.output - a.usage.output || inOrder(a.key, b.key)
}
