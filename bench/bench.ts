import { number } from '#base'
import type { CorpusFacts, LongLineSession } from '#testing'
import type { Ground } from './ground.ts'
import type { Racer } from './measure.ts'

/** What a part of the table is told. */
export interface Bench {
  readonly configDir: string
  readonly facts: CorpusFacts
  readonly longLine: LongLineSession
  readonly longLineDir: string
  readonly rounds: number
  /** Made when the first daemon needs it. */
  readonly ground: () => Ground
}

export function resultNumber({ outcome }: Racer, key: string): number | undefined {
  return outcome.state === 'measured' ? number(outcome.result, key) : undefined
}
