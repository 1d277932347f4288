import { list } from '#base'
import { sharedNow } from './live-line.ts'
import { quantile } from './measure.ts'

const REMEMBERED = 8

/** When each word of an agent came to the last of many devices, by its number in the session. */
export function createArrivals(): { take(device: number, bytes: Buffer): void; report(): object } {
  const arrivals = new Map<number, { at: number; count: number }>()
  // Devices are sent the same bytes: what another one just had is not looked through again.
  const recent: { readonly bytes: Buffer; readonly numbers: readonly number[] }[] = []

  function numbersOf(bytes: Buffer): readonly number[] {
    const known = recent.find((one) => one.bytes.equals(bytes))
    if (known !== undefined) return known.numbers
    const numbers = numbersIn(bytes.toString('utf8'))
    recent.unshift({ bytes: Buffer.from(bytes), numbers })
    if (recent.length > REMEMBERED) recent.pop()
    return numbers
  }

  return {
    take(_device, bytes) {
      const at = sharedNow()
      for (const seq of numbersOf(bytes)) {
        const arrival = arrivals.get(seq)
        if (arrival === undefined) arrivals.set(seq, { at, count: 1 })
        else {
          arrival.at = at
          arrival.count += 1
        }
      }
    },
    report: () => ({ arrivals: [...arrivals].map(([seq, { at, count }]) => [seq, at, count]) }),
  }
}

/** The numbers of all words in a message. */
export function numbersIn(text: string): readonly number[] {
  return [...text.matchAll(/"kind":"delta".*?"seq":(\d+)/g)].map(([, seq]) => Number(seq))
}

/** How long words took from where they came from to the last of the devices. */
export interface Spread {
  /** Words that every device had once. */
  readonly complete: number
  readonly p50: number
  readonly p99: number
}

/** `sent` says when each word was there to be sent, `received` when the last device had it. */
export function toSpread(sent: unknown, received: unknown, devices: number): Spread {
  const begun = new Map(triples(sent).map(([seq, at]) => [seq, at]))
  const took = triples(received).flatMap(([seq, at, count]) => {
    const from = begun.get(seq)
    return from === undefined || count !== devices ? [] : [at - from]
  })
  return { complete: took.length, p50: quantile(took, 0.5), p99: quantile(took, 0.99) }
}

function triples(report: unknown): readonly (readonly [seq: number, at: number, count: number])[] {
  return list(report, 'arrivals').flatMap((item) => {
    const [seq, at, count = 1]: readonly unknown[] = Array.isArray(item) ? item : []
    return typeof seq === 'number' && typeof at === 'number' && typeof count === 'number'
      ? [[seq, at, count] as const]
      : []
  })
}
