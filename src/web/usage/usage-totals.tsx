import type { ComponentChildren, VNode } from 'preact'
import { toCount, toPlural, toTokens } from '#render'
import type { UsageReport } from '#wire'
import { toAmount, toMoney, toShare } from './figures.ts'

/** The figures of a period. */
export function Totals({ report }: { report: UsageReport }): VNode {
  const { total, compactions } = report
  const { usage, cost, uncachedCost, messages } = total
  const isUnknown = compactions.count > 0 && compactions.unknown === compactions.count
  const isPriced = total.unpricedMessages < messages
  const saved = Math.max(0, uncachedCost - cost)
  const given = usage.input + usage.cacheRead + usage.cacheCreation
  return (
    <dl class="totals">
      <Figure words="Cost" value={isPriced ? toMoney(cost) : 'Unknown'}>
        {toPlural(messages, 'message')} of models
      </Figure>
      <Figure words="Tokens" value={toAmount(toTokens(usage))} title={toCount(toTokens(usage))}>
        {toAmount(usage.output)} out, {toAmount(usage.input)} in,{' '}
        {toAmount(usage.cacheRead + usage.cacheCreation)} cached
      </Figure>
      <Figure words="Saved by caching" value={isPriced ? toMoney(saved) : 'Unknown'}>
        {isPriced && `${toMoney(uncachedCost)} without it; `}
        {toShare(usage.cacheRead, given)} of what models were given came from it
      </Figure>
      <Figure
        words="Taken out by compaction"
        value={isUnknown ? 'Unknown' : toAmount(compactions.tokens)}
        {...(isUnknown ? {} : { title: `${toCount(compactions.tokens)} tokens` })}
      >
        {describeCompactions(compactions)}
      </Figure>
    </dl>
  )
}

/** How many there were, and what is not known of them. */
function describeCompactions({ count, unknown, unbilled }: UsageReport['compactions']): string {
  const all = toPlural(count, 'compaction')
  const sizes =
    unknown === 0
      ? ''
      : `; ${unknown === count ? 'their sizes are' : `the size of ${unknown} is`} not recorded`
  const requests =
    unbilled === 0 ? '' : `; ${toPlural(unbilled, 'request')} for them not billed, cost not recorded`
  return `${unknown === count && count > 0 ? 'in' : 'tokens, in'} ${all}${sizes}${requests}`
}

interface FigureProps {
  readonly words: string
  readonly value: string
  readonly title?: string
  readonly children: ComponentChildren
}

function Figure({ words, value, title, children }: FigureProps): VNode {
  return (
    <div class="figure">
      <dt>{words}</dt>
      <dd title={title}>{value}</dd>
      <dd class="soft small">{children}</dd>
    </div>
  )
}
