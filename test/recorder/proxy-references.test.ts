import { createServer } from 'node:http'
import { list, string } from '#base'
import { listenOnLoopback } from '#testing'
import { afterEach, expect, test } from 'vitest'
import { openProxyPlace } from './proxy-place.ts'

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

/** An answer of the Responses API, all at once. */
function toAnswer(id: string, item: object): string {
  return JSON.stringify({
    id,
    object: 'response',
    model: 'm',
    status: 'completed',
    output: [item],
    usage: {},
  })
}

test('[PRX28] an item that a client names instead of sending it again is the one that was heard', async () => {
  const call = {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    name: 'read',
    arguments: '{"path":"a.ts"}',
    status: 'completed',
  }
  const answers = [
    toAnswer('resp_1', call),
    toAnswer('resp_2', {
      type: 'message',
      id: 'msg_2',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'done', annotations: [] }],
    }),
  ]
  const server = createServer((incoming, outgoing) => {
    incoming.resume()
    incoming.on('end', () => {
      outgoing.writeHead(200, { 'content-type': 'application/json' })
      outgoing.end(answers.shift())
    })
  })
  const { port, close } = await listenOnLoopback(server)
  open.push(close)
  const place = await openProxyPlace(`http://127.0.0.1:${String(port)}`)
  open.push(place.close)

  const prompt = { role: 'user', content: 'look' }
  const output = { type: 'function_call_output', call_id: 'call_1', output: 'words' }
  const named = { type: 'item_reference', id: 'fc_1' }
  for (const input of [[prompt], [prompt, named, output]]) {
    const response = await fetch(`${place.proxy.baseUrl('openai')}/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input }),
    })
    await response.text()
  }
  await expect.poll(() => place.read()[0]?.length).toBe(4)
  expect(place.troubles).toEqual([])
  const [lines = []] = place.read()
  const kinds = lines.map((line) => list(line['message'], 'content').map((block) => string(block, 'type')))
  expect(kinds).toEqual([['text'], ['tool_use'], ['tool_result'], ['text']])
  expect(JSON.stringify(lines)).not.toContain('item_reference')
})
