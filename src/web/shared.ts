import type { ReadonlySignal, Signal } from '@preact/signals'
import { createContext, type Context } from 'preact'
import { useContext } from 'preact/hooks'
import type { RemoteThroughline } from '#client'
import type { SessionSummary } from '#model'
import type { BoardCard, Health, Problem } from '#wire'
import type { FetchExport } from './download.ts'
import type { Overlay } from './keys.ts'
import type { Route } from './route.ts'
import type { Toast } from './toasts.tsx'

/** How the app and its daemon are with each other. */
export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  /** It was there, and is being tried again. What is shown may be old. */
  | { readonly kind: 'reconnecting' }
  | { readonly kind: 'logged-out'; readonly why: 'new' | 'old-link' | 'revoked' }
  | { readonly kind: 'failed'; readonly message: string; readonly hint: string }

/** All live sessions, by their ids. */
export type Cards = ReadonlyMap<string, BoardCard>

/** What every part of the app can reach. */
export interface Shared {
  readonly throughline: RemoteThroughline
  readonly route: ReadonlySignal<Route>
  /** The words that were searched for before the session was opened: they are marked in it. */
  readonly searched: ReadonlySignal<string>
  readonly connection: ReadonlySignal<Connection>
  /** Every session, most recently active first; `undefined` until the first answer. */
  readonly sessions: ReadonlySignal<readonly SessionSummary[] | undefined>
  /** What is run now, and what waits for a person. Empty until the app had time to ask. */
  readonly board: ReadonlySignal<Cards>
  /** What lies over the app. */
  readonly overlay: Signal<Overlay>
  /** Where sessions were looked for, and what could not be looked at. */
  readonly lookedIn: ReadonlySignal<readonly string[]>
  readonly problems: ReadonlySignal<readonly Problem[]>
  readonly health: ReadonlySignal<Health | undefined>
  /** The time, each half minute: ages are counted from it. */
  readonly now: ReadonlySignal<number>
  readonly toasts: ReadonlySignal<readonly Toast[]>
  readonly go: (route: Route, how?: 'replace') => void
  /** A session as a file to keep. */
  readonly fetchExport: FetchExport
  /** Says something in passing, to eyes and to screen readers. */
  readonly say: (words: string) => void
}

const SharedContext: Context<Shared | undefined> = createContext<Shared | undefined>(undefined)

/** Gives `Shared` to everything inside. */
export const SharedProvider: Context<Shared | undefined>['Provider'] = SharedContext.Provider

export function useShared(): Shared {
  const shared = useContext(SharedContext)
  if (shared === undefined) throw new Error('outside of the app')
  return shared
}
