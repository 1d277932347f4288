import type { BrowserContextOptions } from 'playwright-core'

/** A desk, and a small phone. */
export const WIDE: BrowserContextOptions = { viewport: { width: 1280, height: 800 } }
export const PHONE: BrowserContextOptions = {
  viewport: { width: 360, height: 740 },
  hasTouch: true,
  isMobile: true,
}

/** Every day the narrowest, dark; all of them in a full run. */
export const SCREENS = (
  [
    ['wide, light', { ...WIDE, colorScheme: 'light' as const }],
    ['wide, dark', { ...WIDE, colorScheme: 'dark' as const }],
    ['a phone, light', { ...PHONE, colorScheme: 'light' as const }],
    ['a phone, dark', { ...PHONE, colorScheme: 'dark' as const }],
  ] as const
).filter((_screen, at) => process.env['RUNS'] === 'full' || at === 3)
