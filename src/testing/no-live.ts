import type { Abilities, SessionView } from '#model'
import type { LiveCalls } from '#wire'

function refuse(): never {
  throw new Error('nothing is run here')
}

/** The live sessions of something that runs none. */
export const NO_LIVE: LiveCalls = {
  agents: refuse,
  workdirs: refuse,
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

const CAN: Abilities = {
  resume: true,
  fork: true,
  interrupt: true,
  editInput: true,
  denialWords: true,
  midTurn: true,
  images: true,
  writesTranscript: true,
}

/** A live session that has just begun. */
export const BEGUN_VIEW: SessionView = {
  sessionId: 's',
  run: 'r',
  seq: 0,
  pid: 1,
  agent: 'scripted',
  can: CAN,
  workdir: '/w',
  startedAt: '2026-01-01T00:00:00.000Z',
  state: { state: 'idle' },
  mode: 'default',
  tools: [],
  commands: [],
  prompts: [],
  attentions: [],
}
