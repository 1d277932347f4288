import { expect, test } from 'vitest'
import { openModelApi, type ModelApi } from './model-api.ts'

async function ask(api: ModelApi, messages: readonly object[], more: object = {}): Promise<Response> {
  const tools = [{ type: 'function', function: { name: 'bash' } }]
  return fetch(`${api.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', stream: true, tools, messages, ...more }),
  })
}

test('[DRV37] the scripted model answers in the chunks of the Chat Completions API, too', async () => {
  const api = await openModelApi()
  const asked = {
    role: 'user',
    content:
      '[[think hm]] [[say two words]] [[tool Bash {"command":"ls"}]] [[with Write {"file_path":"a","content":"b"}]] [[say over]]',
  }
  const streamed = await (await ask(api, [{ role: 'system', content: '[[say no]]' }, asked])).text()
  expect(streamed).toContain('"reasoning_content":"hm"')
  expect(streamed).toContain('"name":"bash"')
  expect(streamed).toContain('"index":1,"id":"call_scripted1x1","type":"function","function":{"name":"write"')
  expect(streamed).toContain('"finish_reason":"tool_calls"')
  expect(streamed.trimEnd().endsWith('data: [DONE]')).toBe(true)
  const went = [
    asked,
    { role: 'assistant', content: 'two words', tool_calls: [{ id: 'c1' }, { id: 'c2' }] },
    { role: 'tool', tool_call_id: 'c1', content: '[[say no]]' },
  ]
  expect(await (await ask(api, went)).text()).toContain('"content":"over"')
  expect((await ask(api, [{ role: 'user', content: [{ type: 'text', text: '[[fail 429]]' }] }])).status).toBe(
    429,
  )
  const whole: unknown = await (await ask(api, [asked], { stream: false, tools: [] })).json()
  expect(whole).toMatchObject({ choices: [{ message: { content: 'A scripted aside' } }] })
  await expect(
    ask(api, [{ role: 'user', content: '[[cut]]' }]).then((response) => response.text()),
  ).rejects.toThrow(/terminated|aborted/iu)
  expect(api.requests.map(({ purpose }) => purpose)).toEqual([
    'conversation',
    'conversation',
    'conversation',
    'aside',
    'conversation',
  ])
  await api.close()
})
