import { createHash, randomBytes } from 'node:crypto'
import { link, mkdir, mkdtemp, readdir, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { field, ThroughlineError } from '#base'

export interface Lock {
  release(): Promise<void>
}

/** A listening socket in the lock folder: `<ticket>-<pid>`, and `held-<ticket>-<pid>` once it has the lock. */
type Claim = { readonly name: string; readonly server: Server }
type Rival = { readonly name: string; readonly pid: number; readonly holds: boolean }

/** Where the lock folder lies, and a way to it that is short enough for the address of a socket. */
type Folder = { readonly path: string; readonly short: string }

/** Only guards against a rival that was stopped half-way; an ordinary race is over in milliseconds. */
const PATIENCE_MS = 3_000
const PAUSE_MS = 5
/** sun_path has 104 bytes on macOS and 108 on Linux; libuv before 1.47 cuts a longer one off without a word. */
const ADDRESS_BYTES = 100
const NAME = /^(held-|new-)?([0-9a-f]{16}-(\d+))$/

/**
 * Makes this process the only writer of `path`, or refuses with `journal-locked` and the pid of the one that is.
 *
 * Node has no flock. What the kernel takes back the moment a process dies is a listening Unix socket, so a claim is
 * one, in the folder `<path>.lock`, and it is alive exactly when connect() succeeds. Every claim has a name of its
 * own that is never used again. Hence a dead one can be removed by anybody at any time, and the race of the usual
 * pid files and single socket names (two see a stale one, the second removes the first one's fresh one) has no place
 * to happen.
 *
 * Safe, because one raises the flag first and then looks: a claim is listening before its name appears, and the lock
 * is taken only after a look at the folder that began later and found no other living claim. Of two claims the later
 * one sees the earlier. Live, because of claims that see each other the one with the smallest ticket stays and the
 * others step back until somebody holds. File names are used in place of an answer from the holder, so a stopped or
 * busy holder is named just the same. Works between containers that share a folder on one kernel, where an abstract
 * socket name would not.
 */
export async function takeLock(path: string): Promise<Lock> {
  if (process.platform === 'win32') return await takePipe(path)
  const folder = `${path}.lock`
  return await withShortWay(folder, async (short) => await contend(path, { path: folder, short }))
}

/** The process that holds the lock of `path` right now, if one does. Windows does not tell. */
export async function findLockHolder(path: string): Promise<number | undefined> {
  if (process.platform === 'win32') return undefined
  const folder = `${path}.lock`
  return await withShortWay(folder, async (short) => {
    const rivals = await livingRivals({ path: folder, short }, undefined)
    return rivals.find(({ holds }) => holds)?.pid
  })
}

async function contend(path: string, folder: Folder): Promise<Lock> {
  const deadline = performance.now() + PATIENCE_MS
  let claim: Claim | undefined = await announce(folder)
  try {
    for (;;) {
      const rivals = await livingRivals(folder, claim?.name)
      const holder = rivals.find(({ holds }) => holds)
      if (holder) throw locked(path, `process ${holder.pid}`)
      const [first] = rivals.toSorted((a, b) => (a.name < b.name ? -1 : 1))
      if (claim && !first) return await hold(folder, claim)
      if (first && performance.now() > deadline) throw locked(path, `process ${first.pid}`)
      if (claim && first && first.name < claim.name) {
        await withdraw(folder, claim)
        claim = undefined
      }
      if (!claim && !first) claim = await announce(folder)
      else await sleep(PAUSE_MS)
    }
  } catch (error) {
    if (claim) await withdraw(folder, claim)
    throw error
  }
}

async function announce(folder: Folder): Promise<Claim> {
  for (let attempt = 1; ; attempt++) {
    const name = `${randomBytes(8).toString('hex')}-${process.pid}`
    await mkdir(folder.path, { mode: 0o700 }).catch(unless('EEXIST'))
    let server: Server | undefined
    try {
      server = await listen(join(folder.short, `new-${name}`))
      // A socket is there before it listens, and would look dead to a rival. So it gets its name afterwards.
      await rename(join(folder.path, `new-${name}`), join(folder.path, name))
      return { name, server }
    } catch (error) {
      if (server) await stop(server)
      // A rival that leaves removes the folder when it is empty, and a socket that does not listen yet. Node reports
      // a missing folder as EACCES.
      const code = field(error, 'code')
      if (attempt === 20 || (code !== 'ENOENT' && code !== 'EACCES')) throw error
    }
  }
}

async function hold(folder: Folder, claim: Claim): Promise<Lock> {
  // A second name, not another one: a rival that reads the folder meanwhile cannot miss both.
  await link(join(folder.path, claim.name), join(folder.path, `held-${claim.name}`))
  return { release: async () => await withdraw(folder, claim) }
}

async function withdraw(folder: Folder, { name, server }: Claim): Promise<void> {
  for (const file of [`held-${name}`, name]) {
    await unlink(join(folder.path, file)).catch(unless('ENOENT'))
  }
  await stop(server)
  await rmdir(folder.path).catch(unless('ENOTEMPTY', 'EEXIST', 'ENOENT'))
}

async function livingRivals(folder: Folder, own: string | undefined): Promise<readonly Rival[]> {
  const files = await readdir(folder.path).catch((error: unknown) => {
    if (field(error, 'code') === 'ENOENT') return []
    throw error
  })
  const rivals = new Map<string, Rival>()
  for (const file of files) {
    const [, state, name, pid] = NAME.exec(file) ?? []
    if (name === undefined || name === own) continue
    if (!(await isAlive(join(folder.short, file)))) {
      // Only the name that was tried: a socket that was about to listen has its proper name by now.
      await unlink(join(folder.path, file)).catch(unless('ENOENT'))
    } else if (state !== 'new-') {
      const holds = state === 'held-' || rivals.get(name)?.holds === true
      rivals.set(name, { name, pid: Number(pid), holds })
    }
  }
  return [...rivals.values()]
}

/** In doubt (no permission, a full queue) it lives: to refuse is safe, to take over is not. */
async function isAlive(address: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(address)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error) => {
      const code = field(error, 'code')
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT' && code !== 'ENOTSOCK')
    })
  })
}

async function listen(address: string): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {}).destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    // `exclusive`: in a worker of `cluster` the primary would listen, and outlive it.
    server.listen({ path: address, exclusive: true }, resolve)
  })
  // A visitor that could not be let in has seen what it came for.
  server.on('error', () => {})
  return server.unref()
}

async function stop(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
}

/** A folder whose path is too long for a socket is reached through a link that only this call knows. */
async function withShortWay<T>(folder: string, use: (short: string) => Promise<T>): Promise<T> {
  const longest = join(folder, `held-${'0'.repeat(16)}-${process.pid}00000`)
  if (Buffer.byteLength(longest) <= ADDRESS_BYTES) return await use(folder)
  const place = await mkdtemp(join(tmpdir(), 'tl-'))
  try {
    await symlink(folder, join(place, 'l'))
    return await use(join(place, 'l'))
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

/** Windows: a named pipe has one first owner, and goes with it. Its name does not tell the owner's pid. */
async function takePipe(path: string): Promise<Lock> {
  const name = createHash('sha256').update(path.toLowerCase()).digest('hex')
  try {
    const server = await listen(`\\\\.\\pipe\\throughline-${name}`)
    return { release: async () => await stop(server) }
  } catch (error) {
    if (field(error, 'code') === 'EADDRINUSE') throw locked(path, 'another process')
    throw error
  }
}

function locked(path: string, holder: string): ThroughlineError {
  return new ThroughlineError('journal-locked', `${path} is being written by ${holder}`, {
    hint: 'Wait until it has finished, or stop it; the lock goes with it at once.',
  })
}

function unless(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    const code = field(error, 'code')
    if (typeof code !== 'string' || !codes.includes(code)) throw error
  }
}
