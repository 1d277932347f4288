import { signal, type Signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'throughline.theme'
const ORDER: readonly Theme[] = ['system', 'light', 'dark']

/** What the person chose for this browser. */
export const theme: Signal<Theme> = signal<Theme>(readTheme())

export function applyTheme(): void {
  if (theme.value === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme.value
}

/** Goes on to the next one: as the system has it, light, dark. */
export function nextTheme(): Theme {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? 'system'
  localStorage.setItem(KEY, theme.value)
  applyTheme()
  return theme.value
}

function readTheme(): Theme {
  const kept = globalThis.localStorage?.getItem(KEY)
  return ORDER.find((one) => one === kept) ?? 'system'
}
