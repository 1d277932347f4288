import { expect, test } from 'vitest'
import { inTurns, openModelApi, type ModelApi } from './model-api.ts'

async function ask(api: ModelApi, content: unknown, more: object = {}): Promise<Response> {
  const body = {
    model: 'm',
    stream: true,
    tools: [{ name: 'Bash' }],
    messages: [{ role: 'user', content }],
    ...more,
  }
  return fetch(`${api.url}/v1/messages?beta=true`, {
    method: 'POST',
    headers: { 'x-claude-code-session-id': 's1' },
    body: JSON.stringify(body),
  })
}

function eventsOf(text: string): readonly string[] {
  return [...text.matchAll(/^event: (\w+)$/gmu)].map(([, name]) => name ?? '')
}

test('[DRV37] a scripted model answers in the events of the real one, and everything asked is on record', async () => {
  const api = await openModelApi(
    inTurns(
      [
        { kind: 'thinking', text: 'hm' },
        { kind: 'text', text: 'two words' },
        { kind: 'tool', name: 'Bash', input: { command: 'ls' } },
      ],
      [{ kind: 'error', status: 529 }],
    ),
  )
  const streamed = await (await ask(api, 'hi')).text()
  const block = (deltas: number): readonly string[] => [
    'content_block_start',
    ...Array<string>(deltas).fill('content_block_delta'),
    'content_block_stop',
  ]
  expect(eventsOf(streamed)).toEqual([
    'message_start',
    'ping',
    ...block(2),
    ...block(2),
    ...block(2),
    'message_delta',
    'message_stop',
  ])
  expect(streamed).toContain('"stop_reason":"tool_use"')
  const failed = await ask(api, 'hi')
  expect([failed.status, await failed.json()]).toMatchObject([529, { error: { type: 'overloaded_error' } }])
  expect(
    await (await fetch(`${api.url}/v1/messages/count_tokens`, { method: 'POST', body: '{}' })).json(),
  ).toEqual({
    input_tokens: 0,
  })
  expect((await fetch(`${api.url}/anything/else`)).status).toBe(200)
  expect(api.requests.map(({ path, purpose, sessionId }) => [path, purpose, sessionId])).toEqual([
    ['/v1/messages?beta=true', 'conversation', 's1'],
    ['/v1/messages?beta=true', 'conversation', 's1'],
    ['/v1/messages/count_tokens', 'other', undefined],
    ['/anything/else', 'other', undefined],
  ])
  await api.close()
})

test('[DRV37] a stream that is cut ends without its end, and one that hangs ends with whoever asked', async () => {
  const api = await openModelApi()
  await expect(ask(api, '[[say before]] [[cut]]').then((response) => response.text())).rejects.toThrow(
    /terminated|aborted/iu,
  )
  const gone = new AbortController()
  const hanging = fetch(`${api.url}/v1/messages`, {
    method: 'POST',
    signal: gone.signal,
    body: JSON.stringify({ stream: true, tools: [1], messages: [{ role: 'user', content: '[[hang]]' }] }),
  }).then((response) => response.text())
  setTimeout(() => gone.abort(), 100)
  await expect(hanging).rejects.toThrow(/abort/iu)
  await api.close()
})

test('[DRV37] titles and trials are answered without the script, also in one piece', async () => {
  const api = await openModelApi(inTurns())
  const whole: unknown = await (await ask(api, 'hi', { stream: false, tools: [] })).json()
  expect(whole).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'A scripted aside' }] })
  expect(api.requests[0]?.purpose).toBe('aside')
  await api.close()
})
