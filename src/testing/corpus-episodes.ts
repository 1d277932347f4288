import { writeFileSync, mkdirSync } from 'node:fs'
import { environmentAttachment } from './corpus-attachments.ts'
import { promptLine, replyLines, syntheticLine, systemLine, userLine } from './corpus-messages.ts'
import { relocatedLine, tagLine, titleLines, unknownLine } from './corpus-side-lines.ts'
import { closingLines, writeTurn } from './corpus-turns.ts'
import type { Scene } from './corpus-turns.ts'
import type { Transcript } from './corpus-transcript.ts'

export type Episode =
  | 'slash command'
  | 'rename'
  | 'tag'
  | 'interrupt'
  | 'api error'
  | 'refusal'
  | 'no response'
  | 'background agent'
  | 'move'
  | 'rewind'
  | 'unknown line'
  | 'queued prompt'
  | 'denied tool'
  | 'subagent'
  | 'big output'
  | 'pasted image'
  | 'read image'

/** What happens in sessions now and then. */
export const EPISODES: Readonly<Record<Episode, (t: Transcript, scene: Scene) => void>> = {
  'slash command'(t) {
    localCommandLines(t, 'context', `Context usage: ${t.random.int(1, 99)}%`)
  },

  rename(t, scene) {
    const title = t.texts.prose(t.random, 24).replaceAll('\n', ' ')
    titleLines(t, title)
    systemLine(t, 'local_command', {
      content: commandText('rename', title),
      level: 'info',
      isMeta: false,
    })
    systemLine(t, 'local_command', {
      content: `<local-command-stdout>Session renamed to: ${title}</local-command-stdout>`,
      level: 'info',
      isMeta: false,
      commandRun: { command: 'rename', args: title },
    })
    userLine(t, 'meta', `<system-reminder>\nThe user named this session "${title}".\n</system-reminder>`, {
      isMeta: true,
    })
    mkdirSync(scene.at.dir, { recursive: true })
    writeFileSync(`${scene.at.dir}/custom-title.json`, JSON.stringify({ customTitle: title }))
    t.o.tally.otherFile()
  },

  tag(t) {
    tagLine(t, t.random.pick(['wip', 'done', 'bug', '調査']))
  },

  interrupt(t, scene) {
    promptLine(t, t.texts.prose(t.random, 80))
    replyLines(t, { blocks: [{ type: 'text', text: t.texts.prose(t.random, 300) }], stop: null })
    userLine(t, 'interrupt-marker', [{ type: 'text', text: '[Request interrupted by user]' }])
    closingLines(t, scene)
  },

  'api error'(t, scene) {
    promptLine(t, t.texts.prose(t.random, 80))
    const requestId = `req_${t.random.token(16)}`
    systemLine(t, 'api_error', {
      level: 'error',
      error: {
        message: `529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"${requestId}"}`,
        status: 529,
        requestId,
        formatted: '529 Overloaded',
        connection: null,
        isNetworkDown: false,
        rateLimits: null,
        noResponse: null,
      },
      retryInMs: t.random.int(400, 30_000),
      retryAttempt: 1,
      maxRetries: 10,
      source: 'request_retry',
    })
    syntheticLine(t, 'API Error: 529 Overloaded. This is a server-side issue, usually temporary.', {
      requestId,
      error: 'server_error',
      apiErrorStatus: 529,
      apiErrorType: 'overloaded_error',
      perTurnEffort: 'medium',
      failedResponseHadNoToolCall: true,
    })
    closingLines(t, scene)
  },

  refusal(t, scene) {
    const refused = promptLine(t, t.texts.prose(t.random, 80))
    systemLine(t, 'informational', {
      content: "Opus 5.5's safeguards stopped the response above · continuing once with that noted",
      isMeta: false,
      level: 'notice',
    })
    systemLine(t, 'model_refusal_no_fallback', {
      content: '',
      level: 'warning',
      originalModel: t.o.model,
      requestId: `req_${t.random.token(16)}`,
      apiRefusalCategory: null,
      apiRefusalExplanation: null,
      refusedUserMessageUuid: refused,
      isMeta: false,
    })
    closingLines(t, scene)
  },

  'no response'(t) {
    promptLine(t, t.texts.prose(t.random, 60))
    syntheticLine(t, 'No response requested.')
    userLine(t, 'meta', 'Your response above was cut off mid-stream. Continue.', { isMeta: true })
  },

  'background agent'(t, scene) {
    writeTurn(t, scene, { midTurn: 'background subagent' })
    const task = `a${t.random.hex(16)}`
    t.chain('user/task-notification', {
      head: {
        promptId: t.random.uuid(),
        type: 'user',
        message: {
          role: 'user',
          content: `<task-notification>\n<task-id>${task}</task-id>\n<status>completed</status>\n<summary>${t.texts.prose(t.random, 200)}</summary>\n</task-notification>`,
        },
      },
      tail: {
        permissionMode: 'default',
        origin: { kind: 'task-notification', producer: 'session-task', runId: t.random.hex(8) },
        promptSource: 'system',
        turnOrigin: 'task_notification',
        turnPosition: { promptIndex: t.turn, turnIndex: t.turn + 1 },
        queueSkipAttachments: true,
      },
      step: { role: 'message' },
    })
    replyLines(t, { blocks: [{ type: 'text', text: t.texts.prose(t.random, 200) }], stop: 'end_turn' })
    closingLines(t, scene)
  },

  move(t) {
    t.place = { cwd: `${t.place.cwd}-worktrees/feature`, branch: 'feature/日本', worktree: true }
    relocatedLine(t)
    environmentAttachment(t)
  },

  rewind(t, scene) {
    if (t.turnEnds.length < 2) writeTurn(t, scene)
    if (t.turnEnds.length < 2) writeTurn(t, scene)
    t.rewind()
    writeTurn(t, scene)
  },

  'unknown line'(t) {
    unknownLine(t)
  },

  'queued prompt': (t, scene) => writeTurn(t, scene, { midTurn: 'queued prompt' }),
  'denied tool': (t, scene) => writeTurn(t, scene, { midTurn: 'denied tool' }),
  subagent: (t, scene) => writeTurn(t, scene, { midTurn: 'subagent' }),
  'big output': (t, scene) => writeTurn(t, scene, { midTurn: 'big output' }),
  'pasted image': (t, scene) => writeTurn(t, scene, { image: 'prompt' }),
  'read image': (t, scene) => writeTurn(t, scene, { image: 'tool' }),
}

/** A slash command that runs in Claude Code itself: a caveat, the command, what it printed. */
export function localCommandLines(t: Transcript, command: string, stdout: string): void {
  t.promptId = t.random.uuid()
  userLine(
    t,
    'meta',
    '<local-command-caveat>The command below was run directly in Claude Code, not sent to you as a request.</local-command-caveat>',
    { isMeta: true },
  )
  userLine(t, 'slash-command', commandText(command, ''))
  userLine(t, 'local-command-stdout', `<local-command-stdout>${stdout}</local-command-stdout>`)
}

function commandText(command: string, args: string): string {
  return `<command-name>/${command}</command-name>\n            <command-message>${command}</command-message>\n            <command-args>${args}</command-args>`
}
