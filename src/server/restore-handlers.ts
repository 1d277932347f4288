import {
  readCompactRequest,
  readConvertRequest,
  readForkCopyRequest,
  readTarget,
  type RestoreCalls,
  type RestoreRouteName,
} from '#wire'
import type { Answer } from './answer.ts'
import type { Handler } from './handlers.ts'

const CREATED = 201

/** The handlers of going on with a session. */
export function createRestoreHandlers(restoring: RestoreCalls): Readonly<Record<RestoreRouteName, Handler>> {
  return {
    restore: async ({ id, query }) => json(await restoring.restore(id, readTarget(query.get('to')))),
    preflight: async ({ id }) => json(await restoring.preflight(id)),
    async repair({ id }) {
      const outcome = await restoring.repair(id)
      return json(outcome, outcome.sessionId === undefined ? undefined : CREATED)
    },
    compactions: async ({ id }) => json(await restoring.compactions(id)),
    compact: async ({ id, body }) => json(await restoring.compact(id, readCompactRequest(body)), CREATED),
    undoCompaction: async ({ id }) => json(await restoring.undoCompaction(id)),
    async convert({ id, body }) {
      const outcome = await restoring.convert(id, readConvertRequest(body))
      return json(outcome, outcome.isWritten ? CREATED : undefined)
    },
    copy: async ({ id, body }) => json(await restoring.copy(id, readForkCopyRequest(body)), CREATED),
    lineage: async ({ id }) => json(await restoring.lineage(id)),
  }
}

function json(value: object, status?: number): Answer {
  const text = JSON.stringify(value)
  return status === undefined ? { kind: 'json', text } : { kind: 'json', text, status }
}
