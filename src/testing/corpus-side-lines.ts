import type { Transcript } from './corpus-transcript.ts'

/** Side records: lines without uuid that are keyed by the session. */

export function queueLines(t: Transcript, content: string): void {
  const { sessionId } = t.o
  t.side('queue-operation/enqueue', {
    type: 'queue-operation',
    operation: 'enqueue',
    timestamp: t.timestamp(),
    sessionId,
    content,
  })
  t.pass(t.random.int(1, 20))
  t.side('queue-operation/dequeue', {
    type: 'queue-operation',
    operation: 'dequeue',
    timestamp: t.timestamp(),
    sessionId,
  })
}

export function queueRemoveLine(
  t: Transcript,
  content: string,
  commandUuid: string,
  deliveryId: string,
): void {
  t.side('queue-operation/remove', {
    type: 'queue-operation',
    operation: 'remove',
    timestamp: t.timestamp(),
    sessionId: t.o.sessionId,
    content,
    reason: 'absorbed_mid_turn',
    commandUuid,
    deliveryId,
  })
}

/** The batch Claude Code rewrites again and again so that the tail of the file tells the state. */
export function stateLines(t: Transcript, when: 'mid-turn' | 'idle'): void {
  const { sessionId, entrypoint, era } = t.o
  // Order inside a batch is not causal: mid-turn, the leaf named here may come further down.
  const leafUuid = when === 'mid-turn' && t.random.chance(0.3) ? t.coming() : t.tip
  t.side('last-prompt', { type: 'last-prompt', lastPrompt: t.lastPrompt.slice(0, 200), leafUuid, sessionId })
  if (entrypoint === 'cli' || t.random.chance(0.3)) {
    t.side('mode', { type: 'mode', mode: 'normal', sessionId })
  }
  if (entrypoint === 'cli') {
    const permissionMode = t.random.pick(['default', 'default', 'acceptEdits', 'plan'])
    t.side('permission-mode', { type: 'permission-mode', permissionMode, sessionId })
  }
  if (era === 'full') t.side('atis-latch', { type: 'atis-latch', atis: '', sessionId })
}

export function toolsUsedLine(t: Transcript, tool: string): void {
  if (t.toolsUsed.has(tool)) return
  t.toolsUsed.add(tool)
  if (t.o.agentId !== undefined) return
  t.side('tools-used', { type: 'tools-used', tools: [...t.toolsUsed], sessionId: t.o.sessionId })
}

export function costLine(t: Transcript): void {
  const { input, output, cacheCreation, cacheRead } = t.spent
  const costUSD = (input * 5 + output * 25 + cacheCreation * 6.25 + cacheRead * 0.5) / 1e6
  t.side('cost-state', {
    type: 'cost-state',
    sessionId: t.o.sessionId,
    totalCostUSD: costUSD,
    totalAPIDuration: t.random.int(100, 90_000),
    totalAPIDurationWithoutRetries: t.random.int(100, 80_000),
    totalToolDuration: t.random.int(0, 9_000),
    totalLinesAdded: t.random.int(0, 400),
    totalLinesRemoved: t.random.int(0, 200),
    totalDuration: t.random.int(1_000, 900_000),
    startTime: t.o.startedAt,
    modelUsage: {
      [t.o.model]: {
        inputTokens: input,
        outputTokens: output,
        thinkingTokens: 0,
        cacheReadInputTokens: cacheRead,
        cacheCreationInputTokens: cacheCreation,
        cacheCreationEphemeral5mInputTokens: cacheCreation,
        cacheCreationEphemeral1hInputTokens: 0,
        webSearchRequests: 0,
        costUSD,
      },
    },
    hasUnknownModelCost: false,
  })
}

export function fileSnapshotLine(t: Transcript, messageId: string, tracked: readonly string[]): void {
  const timestamp = t.timestamp()
  const backups = tracked.map((path) => [
    path,
    {
      backupFileName: `${t.random.hex(16)}@v2`,
      version: 2,
      backupTime: timestamp,
      realParentDir: t.place.cwd,
    },
  ])
  t.side('file-history-snapshot', {
    type: 'file-history-snapshot',
    messageId,
    snapshot: { messageId, trackedFileBackups: Object.fromEntries(backups), timestamp },
    isSnapshotUpdate: false,
  })
}

export function fileDeltaLine(t: Transcript, messageId: string, trackingPath: string): void {
  const timestamp = t.timestamp()
  t.side('file-history-delta', {
    type: 'file-history-delta',
    messageId,
    snapshotMessageId: t.promptId,
    trackingPath,
    backup: {
      backupFileName: `${t.random.hex(16)}@v1`,
      version: 1,
      backupTime: timestamp,
      realParentDir: t.place.cwd,
    },
    timestamp,
  })
}

export function titleLines(t: Transcript, title: string): void {
  const { sessionId } = t.o
  t.side('custom-title', { type: 'custom-title', customTitle: title, sessionId })
  t.side('agent-name', { type: 'agent-name', agentName: title, sessionId })
}

export function tagLine(t: Transcript, tag: string): void {
  t.side('tag', { type: 'tag', tag, sessionId: t.o.sessionId })
}

export function relocatedLine(t: Transcript): void {
  t.side('relocated', { type: 'relocated', relocatedCwd: t.place.cwd, sessionId: t.o.sessionId })
}

/** A type nobody has seen yet: Claude Code adds some in patch releases. */
export function unknownLine(t: Transcript): void {
  t.side('unknown', {
    type: 'weather-report',
    sky: t.texts.rich(t.random, 60),
    nested: { wind: [t.random.int(0, 12), null, true] },
    sessionId: t.o.sessionId,
  })
}
