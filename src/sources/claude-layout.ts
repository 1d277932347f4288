import { createClaudeSource } from './claude/source.ts'
import type { Source } from './source.ts'
import type { Meter } from './transcript-file.ts'

/** Sessions of any agent in the layout of Claude Code: what was transcribed of it and is kept, or what was recorded. */
export function createClaudeLayout(agent: string, root: string, meter?: Meter): Source {
  const { registry: _none, ...lines } = createClaudeSource(root, meter)
  return {
    ...lines,
    agent,
    at: (other) => createClaudeLayout(agent, other, meter),
    look: (files) => ({ ...lines.look(files), agent }),
    async list() {
      const { sessions, problems } = await lines.list()
      return { sessions: sessions.map((session) => ({ ...session, agent })), problems }
    },
  }
}
