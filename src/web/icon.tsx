import type { VNode } from 'preact'

const PATHS = {
  thread: 'M2 11c4 0 4-6 8-6h4',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zm3.6-1.4L14 14',
  star: 'M8 1.8l1.9 3.9 4.3.6-3.1 3 .7 4.3L8 11.6l-3.8 2 .7-4.3-3.1-3 4.3-.6z',
  folder: 'M1.5 4.5v8h13v-7h-7l-1.5-2h-4.5z',
  chart: 'M2 14h12M4 11V8m4 3V3m4 8V6',
  facts: 'M3 2h7l3 3v9H3zM9.5 2v3.5H13M5.5 8h5m-5 3h5',
  copy: 'M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  cross: 'M4 4l8 8m0-8l-8 8',
  link: 'M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9m-7-2L3 8.5A3 3 0 0 0 7.5 13L9 11.5',
  chevron: 'M6 3.5L10.5 8 6 12.5',
  down: 'M3.5 6L8 10.5 12.5 6',
  up: 'M3.5 10L8 5.5 12.5 10',
  menu: 'M2 4h12M2 8h12M2 12h12',
  outline: 'M2 4h2m2 0h8M2 8h2m2 0h8M2 12h2m2 0h8',
  branch:
    'M4.5 5v6m0 0a1.5 1.5 0 1 0 .01 0zm0-6a1.5 1.5 0 1 0-.01 0zm7 0a1.5 1.5 0 1 0-.01 0zm0 0c0 3-3.5 3-6 4',
  warning: 'M8 2L1.5 13.5h13zM8 6.5v3.5m0 1.6v.4',
  download: 'M8 2v8m-3.5-3L8 10.5 11.5 7M2.5 13.5h11',
  spark: 'M8 1.5v4m0 5v4m6.5-6.5h-4m-5 0h-4m9.1-4.6L9.8 6.2M6.2 9.8l-2.8 2.8m0-9.2l2.8 2.8m3.6 3.6l2.8 2.8',
  terminal: 'M2 3h12v10H2zm2.5 3L7 8l-2.5 2M8 10.5h3.5',
  pencil: 'M3 13l.6-2.8L10.8 3l2.2 2.2-7.2 7.2z',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  globe: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c4 4 4 8 0 12M8 2c-4 4-4 8 0 12',
  person: 'M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8zm-5.5 6c.5-3 2.5-4.5 5.5-4.5s5 1.5 5.5 4.5',
  plus: 'M8 3v10M3 8h10',
  bell: 'M8 2a4 4 0 0 0-4 4v3l-1.5 2.5h11L12 9V6a4 4 0 0 0-4-4zM6.5 14h3',
  clip: 'M10.5 4.5L6 9a1.4 1.4 0 0 0 2 2l5-5a2.9 2.9 0 0 0-4.1-4.1L3.7 7a4.3 4.3 0 0 0 6.1 6.1L14 9',
  diamond: 'M8 2l5 6-5 6-5-6z',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
} as const

export type IconName = keyof typeof PATHS

/** A small picture beside words. It says nothing to a screen reader: the words do. */
export function Icon({ name, filled = false }: { name: IconName; filled?: boolean }): VNode {
  return (
    <svg class={filled ? 'icon filled' : 'icon'} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
