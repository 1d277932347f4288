import { expect, test } from 'vitest'
import { openModelApi, type ModelApi } from './model-api.ts'

async function ask(
  api: ModelApi,
  contents: readonly object[],
  verb = 'streamGenerateContent',
): Promise<Response> {
  const tools = verb === 'generateContent' ? [] : [{ functionDeclarations: [{ name: 'run_shell_command' }] }]
  return fetch(`${api.url}/v1beta/models/gemini-test:${verb}?alt=sse`, {
    method: 'POST',
    body: JSON.stringify({ contents, tools }),
  })
}

function said(text: string): object {
  return { role: 'user', parts: [{ text: '<session_context>[[say no]]</session_context>' }, { text }] }
}

test('[DRV37] the scripted model answers in the chunks of the Gemini API, too', async () => {
  const api = await openModelApi()
  const asked = said(
    '[[think hm]] [[say two words]] [[tool Bash {"command":"ls"}]] [[with Write {"file_path":"a"}]] [[say over]]',
  )
  const streamed = await (await ask(api, [asked])).text()
  expect(streamed).toContain('{"text":"**Thinking**\\nhm","thought":true}')
  expect(streamed).toContain('"name":"run_shell_command","args":{"command":"ls"')
  expect(streamed).toContain('"name":"write_file"')
  expect(streamed).toContain('"finishReason":"STOP"')
  expect(streamed).toContain('"modelVersion":"gemini-test"')
  const went = [
    asked,
    {
      role: 'model',
      parts: [{ text: 'two words' }, { functionCall: { name: 'a' } }, { functionCall: { name: 'b' } }],
    },
    { role: 'user', parts: [{ functionResponse: { name: 'a' } }, { functionResponse: { name: 'b' } }] },
  ]
  expect(await (await ask(api, went)).text()).toContain('{"text":"over"}')
  expect((await ask(api, [said('[[fail 429]]')])).status).toBe(429)
  const whole: unknown = await (await ask(api, [asked], 'generateContent')).json()
  expect(whole).toMatchObject({ candidates: [{ content: { parts: [{ text: 'A scripted aside' }] } }] })
  expect(await (await ask(api, [asked], 'countTokens')).json()).toMatchObject({
    totalTokens: expect.any(Number),
  })
  await expect(ask(api, [said('[[cut]]')]).then((response) => response.text())).rejects.toThrow(
    /terminated|aborted/iu,
  )
  expect(api.requests.map(({ purpose }) => purpose)).toEqual([
    'conversation',
    'conversation',
    'conversation',
    'aside',
    'other',
    'conversation',
  ])
  await api.close()
})
