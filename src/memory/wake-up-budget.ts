import { countTokens } from './token-count.ts'

/** What a text costs. */
export interface Cost {
  readonly tokens: number
  readonly characters: number
}

export function costOf(text: string): Cost {
  return { tokens: countTokens(text), characters: text.length }
}

export function sumCosts(costs: readonly Cost[]): Cost {
  let [tokens, characters] = [0, 0]
  for (const cost of costs) {
    tokens += cost.tokens
    characters += cost.characters
  }
  return { tokens, characters }
}

/** What is left to spend. */
export interface Purse {
  /** Takes a cost out, if there is enough. */
  spend(cost: Cost): boolean
  holds(cost: Cost): boolean
  readonly tokens: number
}

export function createPurse(tokens: number, characters: number): Purse {
  const left = { tokens, characters }
  const holds = (cost: Cost): boolean => cost.tokens <= left.tokens && cost.characters <= left.characters
  return {
    holds,
    spend(cost) {
      if (!holds(cost)) return false
      left.tokens -= cost.tokens
      left.characters -= cost.characters
      return true
    },
    get tokens() {
      return left.tokens
    },
  }
}

/** One purse inside another: what is spent is spent in both. */
export function createShare(whole: Purse, tokens: number): Purse {
  const own = createPurse(tokens, Number.POSITIVE_INFINITY)
  const holds = (cost: Cost): boolean => own.holds(cost) && whole.holds(cost)
  return {
    holds,
    spend: (cost) => holds(cost) && own.spend(cost) && whole.spend(cost),
    get tokens() {
      return Math.min(own.tokens, whole.tokens)
    },
  }
}
