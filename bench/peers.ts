import type { SessionMessage } from '@anthropic-ai/claude-agent-sdk'

/**
 * The Agent SDK doing the same work. It finds the config dir by `CLAUDE_CONFIG_DIR`, which the parent process sets.
 * Imported on demand, so that our own jobs do not carry its modules in their memory.
 */
async function sdk(): Promise<typeof import('@anthropic-ai/claude-agent-sdk')> {
  return import('@anthropic-ai/claude-agent-sdk')
}

/** Loading the SDK is not what is measured. */
export async function loadPeer(): Promise<void> {
  await sdk()
}

export async function peerList(): Promise<{ readonly sessions: number }> {
  const { listSessions } = await sdk()
  return { sessions: (await listSessions({})).length }
}

/** The SDK has no last page: it reads the session, then cuts. */
export async function peerLastPage(id: string, entries: number): Promise<{ readonly entries: number }> {
  const messages = await peerMessages(id)
  return { entries: messages.slice(-entries).length }
}

export async function peerFirstPage(id: string, entries: number): Promise<{ readonly entries: number }> {
  const { getSessionMessages } = await sdk()
  return { entries: (await getSessionMessages(id, { limit: entries })).length }
}

export async function peerModelView(id: string): Promise<readonly string[]> {
  return (await peerMessages(id)).map((message) => message.uuid)
}

async function peerMessages(id: string): Promise<readonly SessionMessage[]> {
  const { getSessionMessages } = await sdk()
  return getSessionMessages(id)
}
