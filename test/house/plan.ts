/** What a room is for, as far as the compiler and these tests care. `docs/architecture.md` says the rest. */
export interface Room {
  /** The rooms it may enter. */
  readonly enters: readonly string[]
  /** Runs in a browser too: no Node, not even its types. */
  readonly browserSafe?: true
}

/** The plan of the house: who may enter whom. A new room, or a new way between two, is a line here first. */
export const PLAN: Readonly<Record<string, Room>> = {
  base: { enters: [], browserSafe: true },
  model: { enters: ['base'], browserSafe: true },
  wire: { enters: ['base', 'model'], browserSafe: true },
  client: { enters: ['base', 'model', 'wire'], browserSafe: true },
  render: { enters: ['base', 'model'], browserSafe: true },
  web: { enters: ['base', 'model', 'wire', 'client', 'render'], browserSafe: true },
  redact: { enters: ['base', 'model'] },
  journal: { enters: ['base', 'model'] },
  sources: { enters: ['base', 'model', 'journal'] },
  restore: { enters: ['base', 'model', 'journal'] },
  recorder: { enters: ['base', 'model', 'journal', 'redact'] },
  drivers: { enters: ['base', 'model'] },
  store: { enters: ['base', 'model', 'wire'] },
  ingest: { enters: ['base', 'model', 'wire', 'journal', 'sources', 'store'] },
  memory: { enters: ['base', 'model', 'journal', 'store', 'redact'] },
  live: { enters: ['base', 'model', 'wire', 'journal', 'drivers'] },
  app: {
    enters: [
      'base',
      'model',
      'wire',
      'render',
      'journal',
      'restore',
      'recorder',
      'sources',
      'drivers',
      'store',
      'ingest',
      'live',
      'memory',
      'redact',
    ],
  },
  mcp: { enters: ['base', 'model', 'wire'] },
  server: { enters: ['base', 'model', 'wire', 'journal', 'app', 'mcp'] },
  cli: {
    enters: ['base', 'model', 'wire', 'render', 'recorder', 'drivers', 'app', 'client', 'server', 'mcp'],
  },
  testing: {
    enters: [
      'base',
      'model',
      'wire',
      'render',
      'journal',
      'recorder',
      'drivers',
      'live',
      'memory',
      'sources',
      'store',
      'ingest',
      'app',
      'client',
      'server',
    ],
  },
}

/**
 * Rooms, and the programs of other rooms, that may ask for the environment, the time and the home folder; everybody
 * else is told.
 */
export const ASKS_THE_WORLD: readonly string[] = [
  'app',
  'cli',
  'web',
  'testing',
  'src/live/host-main.ts',
  'src/recorder/world.ts',
]

export const SOURCE_LINES = 300
export const TEST_LINES = 450

/** A file that is longer than others may be, how long it may be, and why it is not two. */
export interface Exception {
  readonly lines: number
  readonly reason: string
}

export const EXCEPTIONS: Readonly<Record<string, Exception>> = {
  'test/cli.test.ts': {
    lines: 640,
    reason: 'every rule of the command line, against the built program, with one way to run it',
  },
  'test/daemon-cli.test.ts': {
    lines: 500,
    reason: 'the commands around the daemon, against the built program, with one way to run it',
  },
}
