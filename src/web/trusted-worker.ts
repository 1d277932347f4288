import { isObject } from '#base'
import type { HighlightWorker } from './message/highlighter.ts'
// oxlint-disable-next-line import/default -- the bundler makes it, see assets.d.ts
import highlightWorkerUrl from './message/highlight-worker.ts?worker&url'

/** The part of Trusted Types that is used. Its addresses are objects that the platform takes where it takes text. */
interface ScriptPolicy {
  createScriptURL(address: string): string
}

let policy: ScriptPolicy | undefined

/** The worker that colours code: the only script this page starts by address. */
export function openHighlightWorker(): HighlightWorker {
  policy ??= createPolicy()
  const worker = new Worker(policy.createScriptURL(highlightWorkerUrl), { type: 'module', name: 'highlight' })
  const opened: HighlightWorker = {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    post: (message) => worker.postMessage(message),
    end: () => worker.terminate(),
    heard: () => undefined,
  }
  worker.addEventListener('message', ({ data }: MessageEvent<unknown>) => opened.heard(data))
  worker.addEventListener('error', () => opened.heard(undefined))
  return opened
}

/** The page's one policy. It lets its own worker through, by its whole address, and nothing else. */
function createPolicy(): ScriptPolicy {
  const rules: ScriptPolicy = {
    createScriptURL(address) {
      if (address !== highlightWorkerUrl) throw new TypeError('no script of this page')
      return address
    },
  }
  const factory: unknown = Reflect.get(globalThis, 'trustedTypes')
  return isPolicyFactory(factory) ? factory.createPolicy('throughline', rules) : rules
}

interface PolicyFactory {
  createPolicy(name: string, rules: ScriptPolicy): ScriptPolicy
}

function isPolicyFactory(value: unknown): value is PolicyFactory {
  return isObject(value) && typeof value['createPolicy'] === 'function'
}
