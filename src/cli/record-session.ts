import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { openRecorderStatus, type RecorderState } from '#app'
import { ThroughlineError } from '#base'
import {
  createConversations,
  createProxyRecordings,
  openProxy,
  type ConversationFacts,
  type ConversationView,
  type Proxy,
  type Trouble,
  type Upstreams,
} from '#recorder'
import type { Values } from './command-line.ts'
import type { Site } from './site.ts'

/** A proxy that records, and what it has to say. */
export interface RecordSession {
  readonly proxy: Proxy
  /** Everything that was recorded, oldest first. */
  views(): readonly ConversationView[]
  /** What went wrong, each trouble once. */
  troubles(): readonly string[]
  /** How many turns are not written. */
  missing(): number
  /** Waits for what is being written, and finishes every recording. */
  close(graceMs: number): Promise<void>
}

export interface RecordSessionOptions {
  readonly site: Site
  readonly values: Values
  readonly upstreams: Upstreams
  readonly mode: RecorderState['mode']
  readonly program: string | undefined
  readonly secret?: string | undefined
  readonly port?: number | undefined
  readonly folderFor: (facts: ConversationFacts) => Promise<string>
  /** Somebody has to know: once for each trouble. */
  readonly onTrouble: (message: string) => void
  readonly onTurn?: ((view: ConversationView, role: 'user' | 'assistant') => void) | undefined
}

/** So many conversations are told of, the newest. */
const SHOWN = 100

/** Opens the proxy, with a word about it in the home folder for `throughline status`. */
export async function openRecordSession(options: RecordSessionOptions): Promise<RecordSession> {
  const { site, values, program, mode } = options
  const startedAt = new Date().toISOString()
  const seen = new Map<string, ConversationView>()
  const told = new Set<string>()
  let trouble: RecorderState['trouble']
  let lastAnswerAt: string | undefined

  function tell(message: string): void {
    trouble = { at: new Date().toISOString(), message }
    status?.touch()
    if (told.has(message)) return
    told.add(message)
    options.onTrouble(message)
  }

  const large = values.value('large') === 'blobs' ? 'blobs' : 'lines'
  const recordings = createProxyRecordings({
    folderFor: options.folderFor,
    agent: values.value('agent'),
    fallback: { agent: program ?? 'unknown', version: 'unknown' },
    large,
    register: site.home,
  })
  const conversations = createConversations({
    ...recordings,
    onTrouble: ({ message, agent }: Trouble) => tell(agent === undefined ? message : `${agent}: ${message}`),
    onTurn(view, role) {
      seen.set(toKey(view), view)
      status?.touch()
      options.onTurn?.(view, role)
    },
  })
  const proxy = await openProxy({
    upstreams: options.upstreams,
    conversations,
    secret: options.secret ?? randomBytes(24).toString('base64url'),
    port: options.port,
    ca: readAuthorities(site, values.value('ca')),
    onUnread: tell,
    onAnswer() {
      lastAnswerAt = new Date().toISOString()
      status?.touch()
    },
  })
  function views(): readonly ConversationView[] {
    for (const view of conversations.list()) if (view.turns > 0 || view.lost > 0) seen.set(toKey(view), view)
    return [...seen.values()]
  }
  const status = await openRecorderStatus(site.home, () => ({
    mode,
    program,
    port: proxy.port,
    startedAt,
    ...proxy.counts,
    missing: conversations.missing(),
    lastAnswerAt,
    conversations: views()
      .slice(-SHOWN)
      .map(({ sessionId, folder, agent, clientSessionId, turns, lost, lastTurnAt }) => ({
        sessionId,
        folder,
        agent,
        clientSessionId,
        turns,
        lost,
        lastTurnAt,
      })),
    trouble,
  }))
  return {
    proxy,
    views,
    troubles: () => [...told],
    missing: () => conversations.missing() + proxy.counts.unread,
    async close(graceMs) {
      await proxy.close(graceMs)
      views()
      await conversations.end()
      await status.close()
    },
  }
}

/** Who may vouch for an upstream beside those that Node knows. Nothing: just those. */
function readAuthorities(
  { env }: Pick<Site, 'env'>,
  file: string | undefined,
): readonly string[] | undefined {
  if (file === undefined) return undefined
  try {
    const extra = env['NODE_EXTRA_CA_CERTS'] ?? ''
    const files = extra === '' ? [file] : [file, extra]
    return [...rootCertificates, ...files.map((path) => readFileSync(path, 'utf8'))]
  } catch (cause) {
    throw new ThroughlineError('bad-usage', 'the certificates of --ca cannot be read', {
      hint: 'Give a file in PEM format.',
      cause,
    })
  }
}

function toKey({ path }: ConversationView): string {
  return path
}
