import { field, list, string } from '#base'
import { expect, test } from 'vitest'
import { createScript } from './script.ts'
import { ask, login, openTarget, type AskOptions, type Heard, type Target } from './target.ts'

const ACCEPT = 'Accept: application/json, text/event-stream'
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

async function post(target: Target, body: object | string, options: AskOptions = {}): Promise<Heard> {
  return await ask(target, 'POST /mcp', { body, headers: [ACCEPT], ...options })
}

/** A message of the protocol, however it was sent. */
function messageOf({ body }: Heard): unknown {
  return JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body)
}

test('[MCP14] without a token, or with a wrong one, nothing is answered', async () => {
  const target = await openTarget()
  const without = await post(target, LIST)
  expect(without.status).toBe(401)
  expect(without.body).not.toContain('recall')
  expect((await post(target, LIST, { token: 'guess' })).status).toBe(401)
  const device = await login(target)
  expect((await post(target, LIST, { token: device.token })).status).toBe(200)
  await ask(target, `DELETE /api/devices/${device.id}`, { token: target.token })
  expect((await post(target, LIST, { token: device.token })).status).toBe(401)
})

test('[MCP14] another name, another page and a page of a browser elsewhere are refused, also with a token', async () => {
  const target = await openTarget()
  const { token } = target
  expect((await post(target, LIST, { token, host: 'evil.example' })).status).toBe(421)
  const foreign = ['Origin: https://evil.example', 'Origin: null', 'Sec-Fetch-Site: cross-site']
  for (const header of foreign) {
    expect([header, (await post(target, LIST, { token, headers: [ACCEPT, header] })).status]).toEqual([
      header,
      403,
    ])
  }
  const own = `Origin: http://127.0.0.1:${target.port}`
  expect((await post(target, LIST, { token, headers: [ACCEPT, own] })).status).toBe(200)
})

test('[MCP14] a body that is too long, no JSON, or not said to be, is refused before it is looked at', async () => {
  const target = await openTarget({ limits: { bodyBytes: 2000 } })
  const { token } = target
  const long = { ...LIST, params: { padding: 'x'.repeat(3000) } }
  expect((await post(target, long, { token })).status).toBe(413)
  expect((await post(target, '{', { token })).status).toBe(400)
  expect((await post(target, '[]', { token })).status).toBe(400)
  const typed = { token, headers: [ACCEPT, 'Content-Type: text/plain'] }
  expect((await post(target, LIST, typed)).status).toBe(415)
  for (const method of ['GET', 'DELETE', 'PUT']) {
    expect((await ask(target, `${method} /mcp`, { token })).status).toBe(405)
  }
})

test('[MCP14] whatever message comes, the server answers with one and goes on', async () => {
  const target = await openTarget()
  const { token } = target
  const messages: readonly object[] = [
    {},
    { jsonrpc: '2.0' },
    { jsonrpc: '2.0', id: 1 },
    { jsonrpc: '2.0', id: 1, method: 'nothing/known' },
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 5 } },
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: '__proto__', arguments: {} } },
    { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'file:///etc/passwd' } },
    { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
  ]
  for (const message of messages) {
    const heard = await post(target, message, { token })
    expect([message, heard.status]).toEqual([
      message,
      expect.toSatisfy((status) => status >= 200 && status < 500),
    ])
    expect(heard.body).not.toContain('root:')
  }
  expect(target.server.failures()).toBe(0)
  expect(target.log.join('\n')).not.toContain(token)
})

test('[MCP1] over HTTP every message stands alone: tools are listed, called, and their refusals told', async () => {
  const { throughline } = createScript()
  const target = await openTarget({ throughline })
  const { token } = target
  const hello = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  }
  const greeted = field(messageOf(await post(target, hello, { token })), 'result')
  expect(string(field(greeted, 'serverInfo'), 'name')).toBe('throughline')
  expect(string(greeted, 'instructions')).toContain('[REMEMBER]')
  const tools = list(field(messageOf(await post(target, LIST, { token })), 'result'), 'tools')
  expect(tools.map((tool) => string(tool, 'name'))).toContain('recall')
  const call = { ...LIST, method: 'tools/call', params: { name: 'previous_session', arguments: {} } }
  const answered = field(messageOf(await post(target, call, { token })), 'result')
  expect(string(list(answered, 'content')[0], 'text')).toContain('Give `workdir`')
})

test('[MCP1] the newest revision of the protocol, which has no handshake, is answered as well; a stream is not', async () => {
  const target = await openTarget()
  const { token } = target
  const version = '2026-07-28'
  const say = async (method: string, params: object = {}): Promise<Heard> => {
    const envelope = {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    }
    const headers = [ACCEPT, `MCP-Protocol-Version: ${version}`, `Mcp-Method: ${method}`]
    return await post(
      target,
      { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope } },
      { token, headers },
    )
  }
  const tools = list(field(messageOf(await say('tools/list')), 'result'), 'tools')
  expect(tools.map((tool) => string(tool, 'name'))).toContain('recall')
  const refused = messageOf(await say('subscriptions/listen', { notifications: { toolsListChanged: true } }))
  expect(field(refused, 'error')).toBeDefined()
})
