import { computed, signal, type ReadonlySignal } from '@preact/signals'
import { openCaller } from './callers.ts'

/** Whether this browser calls a person who looks elsewhere; where it cannot, why. */
export type Notifying =
  | { readonly kind: 'on' | 'off' }
  | { readonly kind: 'impossible'; readonly why: string }

const KEY = 'throughline.notify'

/** The browser did not let a notification be shown that it seemed to offer. */
const isRefused = signal(false)
/** Counts what a person chose: what it is stands in the browser's storage. */
const choices = signal(0)

export const notifying: ReadonlySignal<Notifying> = computed(() => {
  const why = choices.value >= 0 ? findObstacle(isRefused.value) : undefined
  if (why !== undefined) return { kind: 'impossible', why }
  const isOn = Notification.permission === 'granted' && localStorage.getItem(KEY) === 'on'
  return { kind: isOn ? 'on' : 'off' }
})

/** Asks the browser for it, which asks the person; or stops. Only ever from a button. */
export async function setNotifying(wanted: 'on' | 'off'): Promise<void> {
  localStorage.setItem(KEY, wanted)
  const isGranted = wanted === 'off' || (await Notification.requestPermission()) === 'granted'
  const caller = isGranted ? await openCaller() : undefined
  if (wanted === 'off') await caller?.keepOnly(new Set())
  else if (caller?.isSure === false) {
    // Nobody is to wait for a call that cannot come: it is tried once, before the person's eyes.
    await caller.show('Throughline', { id: KEY, sessionId: '', words: 'Notifications are on.' }).catch(giveUp)
  }
  choices.value += 1
}

/** A notification could not be shown. The person is told instead of being left to wait for the next one. */
export function giveUp(): void {
  isRefused.value = true
}

function findObstacle(wasRefused: boolean): string | undefined {
  if (!isSecureContext)
    return 'Notifications need a secure connection: open Throughline over HTTPS, or on the machine it runs on.'
  if (!('Notification' in globalThis))
    return 'This browser cannot show notifications. On an iPhone or iPad, add Throughline to the Home Screen and open it from there.'
  if (Notification.permission === 'denied')
    return 'Notifications are blocked in the settings of this browser.'
  return wasRefused
    ? 'This browser refused to show notifications, for example because it does not trust the certificate of this address.'
    : undefined
}
