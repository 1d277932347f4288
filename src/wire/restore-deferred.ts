import type { RestoreCalls } from './restore-calls.ts'

/** Going on with sessions, for those who may never ask: what it needs is loaded with the first call. */
export function deferRestoring(open: () => Promise<RestoreCalls>): RestoreCalls {
  return {
    restore: async (id, target) => await (await open()).restore(id, target),
    preflight: async (id) => await (await open()).preflight(id),
    repair: async (id) => await (await open()).repair(id),
    compact: async (id, request) => await (await open()).compact(id, request),
    undoCompaction: async (id) => await (await open()).undoCompaction(id),
    compactions: async (id) => await (await open()).compactions(id),
    convert: async (id, request) => await (await open()).convert(id, request),
    lineage: async (id) => await (await open()).lineage(id),
  }
}
