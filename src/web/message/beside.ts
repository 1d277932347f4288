import type { ComponentType } from 'preact'
import { lazyView } from '../lazy-view.tsx'
import type * as Views from './beside-views.ts'

let loading: Promise<typeof Views> | undefined

/** Fetches how everything is shown that is neither a prompt nor a reply. A conversation asks for it when it opens. */
export function expectBeside(): Promise<typeof Views> {
  loading ??= import('./beside-views.ts')
  return loading
}

type PropsOf<Name extends keyof typeof Views> = Parameters<(typeof Views)[Name]>[0]

export const AsideView: ComponentType<PropsOf<'AsideView'>> = lazyView(
  async () => (await expectBeside()).AsideView,
  'part',
)
export const CommandView: ComponentType<PropsOf<'CommandView'>> = lazyView(
  async () => (await expectBeside()).CommandView,
  'part',
)
export const CompactionView: ComponentType<PropsOf<'CompactionView'>> = lazyView(
  async () => (await expectBeside()).CompactionView,
  'part',
)
export const DamageView: ComponentType<PropsOf<'DamageView'>> = lazyView(
  async () => (await expectBeside()).DamageView,
  'part',
)
export const NoticeView: ComponentType<PropsOf<'NoticeView'>> = lazyView(
  async () => (await expectBeside()).NoticeView,
  'part',
)
export const OrphanView: ComponentType<PropsOf<'OrphanView'>> = lazyView(
  async () => (await expectBeside()).OrphanView,
  'part',
)
