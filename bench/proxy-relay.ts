import { connect, createServer } from 'node:net'
import { number } from '#base'

/** Passes bytes on between whoever connects and a port, and does nothing else: what any second process costs. */
const port = Number(process.argv[2])
const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({ port, host: '127.0.0.1', noDelay: true })
  for (const side of [client, upstream]) side.on('error', () => {})
  client.pipe(upstream)
  upstream.pipe(client)
})
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${String(number(server.address(), 'port') ?? 0)}`
  process.stdout.write(`${JSON.stringify({ ANTHROPIC_BASE_URL: url })}\n`)
})
