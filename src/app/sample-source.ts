import { join } from 'node:path'
import { createClaudeSource, type Meter, type Source } from '#sources'

/** Where sample sessions are found once somebody asked for them: in a folder of Throughline's own, marked as samples. */
export function createSampleSource(home: string, meter?: Meter): Source {
  const { registry: _nobodyRunsThem, ...source } = createClaudeSource(join(home, 'demo'), meter)
  return {
    ...source,
    look: (files) => ({ ...source.look(files), demo: true }),
    async list() {
      const { sessions, problems } = await source.list()
      return { sessions: sessions.map((session) => ({ ...session, demo: true })), problems }
    },
  }
}
