import { isObject } from '#base'
import type { HighlightWorker } from './message/highlighter.ts'
// oxlint-disable-next-line import/default -- the bundler makes it, see assets.d.ts
import callWorkerUrl from './calling/call-worker.ts?worker&url'
// oxlint-disable-next-line import/default -- as above
import highlightWorkerUrl from './message/highlight-worker.ts?worker&url'

/** The part of Trusted Types that is used. Its addresses are objects that the platform takes where it takes text. */
interface ScriptPolicy {
  createScriptURL(address: string): string
}

let policy: ScriptPolicy | undefined

/** The worker that colours code. */
export function openHighlightWorker(): HighlightWorker {
  const worker = new Worker(toTrusted(highlightWorkerUrl), { type: 'module', name: 'highlight' })
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

/** Registers the worker whose notifications this page shows, and waits until it can show one. Rejects when it cannot. */
export async function registerCallWorker(): Promise<ServiceWorkerRegistration> {
  const registration = await navigator.serviceWorker.register(toTrusted(callWorkerUrl))
  const worker = registration.installing ?? registration.waiting
  if (registration.active !== null || worker === null) return registration
  await new Promise<void>((resolve, reject) => {
    worker.addEventListener('statechange', () => {
      if (worker.state === 'activated') resolve()
      else if (worker.state === 'redundant') reject(new Error('the worker was not installed'))
    })
  })
  return registration
}

function toTrusted(address: string): string {
  policy ??= createPolicy()
  return policy.createScriptURL(address)
}

const OWN: ReadonlySet<string> = new Set([callWorkerUrl, highlightWorkerUrl])

/** The page's one policy. It lets its own workers through, by their whole addresses, and nothing else. */
function createPolicy(): ScriptPolicy {
  const rules: ScriptPolicy = {
    createScriptURL(address) {
      if (!OWN.has(address)) throw new TypeError('no script of this page')
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
