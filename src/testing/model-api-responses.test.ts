import { expect, test } from 'vitest'
import { openModelApi, type ModelApi } from './model-api.ts'

async function ask(api: ModelApi, input: readonly object[], more: object = {}): Promise<Response> {
  const body = {
    model: 'm',
    stream: true,
    tools: [{ type: 'function', name: 'exec_command' }],
    input,
    ...more,
  }
  return fetch(`${api.url}/v1/responses`, {
    method: 'POST',
    headers: { 'session-id': 's1' },
    body: JSON.stringify(body),
  })
}

function prompt(text: string): object {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}

function eventsOf(text: string): readonly string[] {
  return [...text.matchAll(/^event: response\.([\w.]+)$/gmu)].map(([, name]) => name ?? '')
}

test('[DRV37] the scripted model answers in the events of the Responses API, too', async () => {
  const api = await openModelApi()
  const asked = prompt('[[think hm]] [[say two words]] [[tool Bash {"command":"ls"}]] [[say over]]')
  const streamed = await (
    await ask(api, [prompt('<environment_context>x</environment_context>'), asked])
  ).text()
  expect(eventsOf(streamed)).toEqual([
    'created',
    'output_item.added',
    'reasoning_summary_part.added',
    'reasoning_summary_text.delta',
    'output_item.done',
    'output_item.added',
    'output_text.delta',
    'output_text.delta',
    'output_item.done',
    'output_item.added',
    'function_call_arguments.delta',
    'function_call_arguments.delta',
    'output_item.done',
    'completed',
  ])
  const [, callId = ''] = /"call_id":"([^"]+)"/u.exec(streamed) ?? []
  const went = [
    asked,
    { type: 'function_call', call_id: callId },
    { type: 'function_call_output', call_id: callId },
  ]
  expect(await (await ask(api, went)).text()).toContain('"text":"over"')
  expect((await ask(api, [prompt('[[fail 429]]')])).status).toBe(429)
  expect(await (await ask(api, [prompt('a title?')], { tools: [] })).text()).toContain('A scripted aside')
  const tools = [{ type: 'additional_tools', role: 'developer', tools: [] }]
  expect(await (await ask(api, [...tools, prompt('[[recall]]')], { tools: [] })).text()).toContain(
    'Earlier: ',
  )
  expect(api.requests.map(({ purpose, sessionId }) => [purpose, sessionId])).toEqual([
    ['conversation', 's1'],
    ['conversation', 's1'],
    ['conversation', 's1'],
    ['aside', 's1'],
    ['conversation', 's1'],
  ])
  await api.close()
})
