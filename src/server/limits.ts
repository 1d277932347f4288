/** What one client may cost the others. */
export interface Limits {
  readonly bodyBytes: number
  readonly headerBytes: number
  readonly headerMs: number
  readonly requestMs: number
  /** How long a download may stand still because nobody takes it in. */
  readonly stallMs: number
  readonly connections: number
  readonly sockets: number
  readonly frameBytes: number
  readonly framesPerSecond: number
  readonly socketBytesPerSecond: number
  readonly subscriptions: number
  /** More waiting for a device than this, and it is cut off. */
  readonly waitingBytes: number
  readonly pingMs: number
  /** Everything since the last tick goes out in one write. */
  readonly tickMs: number
}

export const LIMITS: Limits = {
  bodyBytes: 1024 * 1024,
  headerBytes: 16 * 1024,
  headerMs: 10_000,
  requestMs: 30_000,
  stallMs: 60_000,
  connections: 2048,
  sockets: 2048,
  frameBytes: 1024 * 1024,
  framesPerSecond: 100,
  socketBytesPerSecond: 4 * 1024 * 1024,
  subscriptions: 1000,
  waitingBytes: 8 * 1024 * 1024,
  pingMs: 30_000,
  tickMs: 8,
}
