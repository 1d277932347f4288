import type { ErrorBody } from './protocol.ts'
import type { LiveEvent, Topic } from './live.ts'

/**
 * What is said over `WS /api/live`. Every message is one JSON value. A device opens as many subscriptions as it
 * likes over one socket and numbers them itself.
 */
export type DeviceFrame =
  | {
      readonly kind: 'subscribe'
      readonly subscription: number
      readonly topic: Topic
      readonly cursor?: string
    }
  | { readonly kind: 'unsubscribe'; readonly subscription: number }
  | { readonly kind: 'ping' }

/** The daemon sends lists of these: everything of one tick in one message. */
export type DaemonFrame =
  /** First on every socket. */
  | { readonly kind: 'hello'; readonly protocol: number; readonly version: string }
  | { readonly kind: 'event'; readonly subscription: number; readonly event: WireEvent }
  /** The subscription is over. */
  | { readonly kind: 'failed'; readonly subscription: number; readonly error: ErrorBody }
  | { readonly kind: 'pong' }

/** A live event whose readings are written for the wire. */
export type WireEvent =
  | Exclude<LiveEvent, { readonly kind: 'entry.added' }>
  | {
      readonly kind: 'entry.added'
      readonly session: string
      readonly subagent?: string
      readonly readings: readonly unknown[]
      readonly cursor: string
    }

/** Why a socket is closed, beyond what the WebSocket protocol has numbers for. */
export const CLOSE_REASONS = {
  /** The device takes in less than it is sent. It comes back with its cursors and has lost nothing. */
  tooSlow: 1013,
  /** The device sends too much, or something that is no frame. */
  policy: 1008,
  tooBig: 1009,
  /** The daemon stops. */
  goingAway: 1001,
  /** The device was revoked. */
  revoked: 4401,
} as const
