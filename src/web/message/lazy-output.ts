import type { ComponentType } from 'preact'
import { lazyView } from '../lazy-view.tsx'
import type { Printed } from './terminal-output.tsx'

const load = async (): Promise<ComponentType<Printed>> =>
  (await import('./terminal-output.tsx')).TerminalOutput

/** What programs print, with its colours: fetched when the first of it is shown. */
export const TerminalOutput: ComponentType<Printed> = lazyView(load, 'part')
