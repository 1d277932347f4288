import type { LiveCalls } from '#wire'

function refuse(): never {
  throw new Error('nothing is run here')
}

/** The live sessions of something that runs none. */
export const NO_LIVE: LiveCalls = {
  agents: refuse,
  folder: refuse,
  trust: refuse,
  start: refuse,
  resume: refuse,
  fork: refuse,
  renew: refuse,
  end: refuse,
  interrupt: refuse,
  prompt: refuse,
  setMode: refuse,
  setModel: refuse,
  view: refuse,
  board: refuse,
  attentions: refuse,
  resolve: refuse,
  audit: refuse,
  audits: refuse,
  ask: refuse,
}
