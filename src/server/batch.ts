import type { DaemonFrame, LiveEvent } from '#wire'
import { eventText } from './wire-json.ts'

/**
 * What a device is told in one tick. Batches form a tree: devices that were told the same since the tick began hold
 * the same one, and it is written out once for all of them.
 */
export interface Batch {
  /** Characters so far. */
  readonly size: number
  /** This batch and one more event. */
  withEvent(subscription: number, event: LiveEvent): Batch
  /** This batch and a frame that concerns one device only. */
  withFrame(frame: DaemonFrame): Batch
  /** One message: a JSON list of frames. */
  toMessage(): Buffer
}

/** A batch of nothing: where every device stands when a tick begins. */
export function createBatch(): Batch {
  return new Node('')
}

const texts = new WeakMap<LiveEvent, string>()

/** Every subscriber is handed the same object, so it is written once. */
function textOf(event: LiveEvent): string {
  const known = texts.get(event)
  if (known !== undefined) return known
  const text = eventText(event)
  texts.set(event, text)
  return text
}

class Node implements Batch {
  /** The frames with commas between them. */
  readonly #frames: string
  #message: Buffer | undefined
  /** The last batch that was made from this one, per subscription: the others ask for the same right afterwards. */
  #after: Map<number, { readonly event: LiveEvent; readonly batch: Node }> | undefined

  constructor(frames: string) {
    this.#frames = frames
  }

  get size(): number {
    return this.#frames.length
  }

  withEvent(subscription: number, event: LiveEvent): Batch {
    this.#after ??= new Map()
    const after = this.#after.get(subscription)
    if (after?.event === event) return after.batch
    const batch = this.#with(`{"kind":"event","subscription":${subscription},"event":${textOf(event)}}`)
    this.#after.set(subscription, { event, batch })
    return batch
  }

  withFrame(frame: DaemonFrame): Batch {
    return this.#with(JSON.stringify(frame))
  }

  toMessage(): Buffer {
    return (this.#message ??= Buffer.from(`[${this.#frames}]`))
  }

  #with(frame: string): Node {
    return new Node(this.#frames === '' ? frame : `${this.#frames},${frame}`)
  }
}
