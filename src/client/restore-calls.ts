import type { CompactionRecord } from '#model'
import type {
  CompactionState,
  ConvertOutcome,
  ForkCopy,
  Lineage,
  Preflight,
  RepairOutcome,
  RestoreCalls,
  RestoredSession,
} from '#wire'
import { expectShape, type Rest } from './rest.ts'

/** Going on with sessions, over REST. */
export function createRemoteRestoring(rest: Rest): RestoreCalls {
  const post = (path: string, body: object = {}): Promise<unknown> => rest.send('POST', path, body)
  return {
    restore: async (id, target) =>
      expectShape<RestoredSession>(
        await rest.get(at(id, 'restore'), { to: target }),
        'messages',
        'losses',
        'tokens',
      ),
    preflight: async (id) =>
      expectShape<Preflight>(await rest.get(at(id, 'preflight')), 'troubles', 'tokens'),
    repair: async (id) => expectShape<RepairOutcome>(await post(at(id, 'repair')), 'mended', 'left'),
    compact: async (id, request = {}) =>
      expectShape<CompactionRecord>(await post(at(id, 'compact'), request), 'id', 'turns', 'tokens'),
    undoCompaction: async (id) => expectShape<CompactionState>(await post(at(id, 'compact/undo')), 'records'),
    compactions: async (id) => expectShape<CompactionState>(await rest.get(at(id, 'compactions')), 'records'),
    convert: async (id, request) =>
      expectShape<ConvertOutcome>(await post(at(id, 'convert'), request), 'sessionId', 'losses', 'command'),
    copy: async (id, request = {}) =>
      expectShape<ForkCopy>(await post(at(id, 'copy'), request), 'sessionId', 'workdir'),
    lineage: async (id) => expectShape<Lineage>(await rest.get(at(id, 'lineage')), 'to'),
  }
}

/** Where something of a session is. */
function at(id: string, what: string): string {
  return `/api/sessions/${encodeURIComponent(id)}/${what}`
}
