import type { MemoryCalls } from '#wire'
import type { Memory } from './open-memory.ts'

/** What is remembered, for those who may never ask: it is opened with the first call. */
export function deferMemory(open: () => Promise<Memory>): MemoryCalls {
  const calls = async (): Promise<MemoryCalls> => (await open()).calls
  return {
    query: async (query, options) => await (await calls()).query(query, options),
    get: async (id) => await (await calls()).get(id),
    versions: async (id) => await (await calls()).versions(id),
    put: async (draft, author) => await (await calls()).put(draft, author),
    remember: async (request) => await (await calls()).remember(request),
    edit: async (id, patch, author) => await (await calls()).edit(id, patch, author),
    act: async (id, action, author) => await (await calls()).act(id, action, author),
    review: async () => await (await calls()).review(),
    trace: async (id) => await (await calls()).trace(id),
    suggestTags: async (text) => await (await calls()).suggestTags(text),
    wakeUp: async (request) => await (await calls()).wakeUp(request),
    wakeUps: async (sessionId) => await (await calls()).wakeUps(sessionId),
    wakeElsewhere: async (request) => await (await calls()).wakeElsewhere(request),
    recall: async (request) => await (await calls()).recall(request),
    import: async (request) => await (await calls()).import(request),
    export: async () => await (await calls()).export(),
    artifact: async (id, hash) => await (await calls()).artifact(id, hash),
  }
}
