import type { JsonObject } from '#base'
import type { Entry } from '#model'
import { expect, test } from 'vitest'
import { toSearchText } from './search-text.ts'

function replyWith(value: JsonObject): Entry {
  return {
    kind: 'reply',
    id: 'r',
    place: { offset: 0, length: 0 },
    raw: new Uint8Array(),
    type: 'response_item/web_search_call',
    blocks: [{ kind: 'unknown', value }],
    synthetic: false,
    apiError: false,
  }
}

test('[SEA13] the words of a web search by the provider are found, and nothing that is sealed', () => {
  const search = {
    type: 'web_search_call',
    id: 'ws_68c1',
    status: 'completed',
    action: { type: 'search', query: 'sqlite wal checkpoint', queries: ['wal starvation'] },
  }
  expect(toSearchText(replyWith(search))?.text).toEqual({ tool: 'sqlite wal checkpoint\nwal starvation' })
  const sealed = { type: 'compaction', encrypted_content: 'A'.repeat(5000) }
  expect(toSearchText(replyWith(sealed))).toBeUndefined()
})
