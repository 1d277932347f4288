import { parentPort, workerData } from 'node:worker_threads'
import { string, ThroughlineError } from '#base'
import { openIndexFeed, takeNews, type FedStore } from '#ingest'
import { openPostgresStore, openTeamBook, toPostgresAddress } from '#store'
import { maskSecrets } from './mask-secrets.ts'
import type { FromFeed, ToFeed } from './team-feed-messages.ts'

/** Reads files, masks what they say and tells it to the team's index, in a thread that nobody waits for. */
const port = parentPort
if (port === null) throw new Error('this file runs in a thread of its own')

const say = (message: FromFeed): void => {
  // A thread has no origin.
  // eslint-disable-next-line unicorn/require-post-message-target-origin
  port.postMessage(message)
}
const address = toPostgresAddress(string(workerData, 'address') ?? '')
/** One that writes, and one that is asked meanwhile. */
const CONNECTIONS = 2

async function openStore(): Promise<FedStore> {
  const book = await openTeamBook({ address, most: 1 })
  const { origin } = await book.me().finally(() => void book.close())
  const store = await openPostgresStore({ address, most: CONNECTIONS })
  return {
    origin,
    files: () => store.files(),
    apply: (changes) => store.apply(changes),
    close: () => store.close(),
  }
}

const feed = openIndexFeed({
  openStore,
  mask: maskSecrets,
  now: Date.now,
  onStatus({ trouble, ...status }) {
    const told = trouble && {
      code: trouble instanceof ThroughlineError ? trouble.code : 'internal',
      message: trouble.message,
      hint: trouble instanceof ThroughlineError ? trouble.hint : '',
    }
    say({ kind: 'status', status: { ...status, trouble: told } })
  },
})

port.on('message', (message: ToFeed) => {
  switch (message.kind) {
    case 'sync':
    case 'touch':
    case 'forget':
    case 'move':
      takeNews(feed, message)
      break
    case 'settled':
      void feed.settled().then(() => say({ kind: 'done', id: message.id }))
      break
    case 'close':
      void feed.close().then(() => say({ kind: 'done', id: message.id }))
      break
  }
})
