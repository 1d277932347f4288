import { Server, Socket } from 'node:net'
import { isObject, string } from '#base'

/**
 * `node --import bench/dist/loopback-only.js …`: a program that talks to nobody but this machine, whatever it was
 * meant to do. Connections elsewhere fail, and what it listens on is 127.0.0.1.
 */
const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost', '::ffff:127.0.0.1'])

const connect = methodOf(Socket.prototype, 'connect')
const listen = methodOf(Server.prototype, 'listen')

Reflect.set(Socket.prototype, 'connect', function guarded(this: Socket, ...args: unknown[]): unknown {
  const where = whereTo(args)
  if (where === undefined || LOOPBACK.has(where)) return connect(this, args)
  const refused = new Error(`no connection to ${where}: this machine only`)
  process.nextTick(() => this.destroy(refused))
  return this
})

Reflect.set(Server.prototype, 'listen', function guarded(this: Server, ...args: unknown[]): unknown {
  const [first, ...rest] = args
  const onListening = rest.filter((arg) => typeof arg === 'function')
  if (typeof first === 'number' || typeof first === 'string') {
    return listen(this, [{ port: Number(first), host: '127.0.0.1' }, ...onListening])
  }
  const isPort = isObject(first) && first['port'] !== undefined
  return listen(this, isPort ? [{ ...first, host: '127.0.0.1' }, ...rest] : args)
})

function methodOf(prototype: object, name: string): (self: unknown, args: unknown[]) => unknown {
  const method: unknown = Reflect.get(prototype, name)
  if (typeof method !== 'function') throw new TypeError(`there is no ${name}`)
  return (self, args) => Reflect.apply(method, self, args)
}

/** The host of a connection; nothing for a socket in the file system. */
function whereTo(args: readonly unknown[]): string | undefined {
  // Node's own callers have put the arguments into a list already.
  const [first, second]: readonly unknown[] = Array.isArray(args[0]) ? args[0] : args
  if (isObject(first)) return first['path'] === undefined ? (string(first, 'host') ?? 'localhost') : undefined
  if (typeof first === 'string' && Number.isNaN(Number(first))) return undefined
  return typeof second === 'string' ? second : 'localhost'
}
