import type { MemoryCalls } from './memory-calls.ts'

/** What is remembered, for those who may never ask: it is opened with the first call. */
export function deferMemory(open: () => Promise<MemoryCalls>): MemoryCalls {
  return {
    query: async (query, options) => await (await open()).query(query, options),
    get: async (id) => await (await open()).get(id),
    versions: async (id) => await (await open()).versions(id),
    put: async (draft, author) => await (await open()).put(draft, author),
    remember: async (request) => await (await open()).remember(request),
    edit: async (id, patch, author) => await (await open()).edit(id, patch, author),
    act: async (id, action, author) => await (await open()).act(id, action, author),
    review: async () => await (await open()).review(),
    trace: async (id) => await (await open()).trace(id),
    suggestTags: async (text) => await (await open()).suggestTags(text),
    wakeUp: async (request) => await (await open()).wakeUp(request),
    wakeUps: async (sessionId) => await (await open()).wakeUps(sessionId),
    wakeElsewhere: async (request) => await (await open()).wakeElsewhere(request),
    recall: async (request) => await (await open()).recall(request),
    import: async (request) => await (await open()).import(request),
    export: async () => await (await open()).export(),
    artifact: async (id, hash) => await (await open()).artifact(id, hash),
  }
}
