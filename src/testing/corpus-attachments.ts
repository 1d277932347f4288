import type { Ballast } from './corpus-requests.ts'
import type { Fields, PathStep, Transcript } from './corpus-transcript.ts'

/** Attachments stand in the chain like messages do, but are not shown as such. */
function attach(
  t: Transcript,
  attachment: Fields & { readonly type: string },
  rendered?: Rendered,
  role: PathStep['role'] = 'hidden',
): string {
  const { era, sessionId } = t.o
  return t.chain(`attachment/${attachment.type}`, {
    step: { role },
    head: { attachment, type: 'attachment' },
    tail: {
      ...(rendered === undefined
        ? {}
        : {
            rendered: [{ content: `<system-reminder>\n${rendered.text}\n</system-reminder>` }],
            renderedRole: rendered.role,
          }),
      ...(era === 'full' && t.o.entrypoint === 'cli' ? { session_id: sessionId } : {}),
    },
  })
}

interface Rendered {
  readonly text: string
  readonly role: 'system' | 'user'
}

export function environmentAttachment(t: Transcript): void {
  const { cwd, worktree, branch } = t.place
  const snapshot = {
    workingDirectory: cwd,
    isWorktree: worktree,
    isGitRepo: branch !== 'HEAD',
    additionalWorkingDirectories: [],
    platform: 'linux',
    shell: 'bash',
    osVersion: 'Linux 6.18.44',
  }
  const text = `# Environment\nYou have been invoked in the following environment: \n - Primary working directory: ${cwd}\n - Is a git repository: ${snapshot.isGitRepo}\n - Platform: linux\n - Shell: bash`
  attach(t, { type: 'environment', snapshot }, { text, role: 'system' })
}

export function modelAttachment(t: Transcript): void {
  const text = `You are powered by the model named Opus 5.5. The exact model ID is ${t.o.model}. Assistant knowledge cutoff is June 2026.`
  const identity = { modelId: t.o.model, marketingName: 'Opus 5.5', knowledgeCutoff: 'June 2026' }
  attach(t, { type: 'model', identity, text }, { text, role: 'system' })
}

export function listingAttachments(t: Transcript, ballast: Ballast): void {
  const names = [
    'CronCreate',
    'CronDelete',
    'CronList',
    'EnterPlanMode',
    'ExitPlanMode',
    'ExitWorktree',
    'WebFetch',
  ]
  attach(
    t,
    {
      type: 'deferred_tools_delta',
      addedNames: names,
      addedLines: names,
      removedNames: [],
      wireHiddenNames: [],
      readdedNames: [],
      pendingMcpServers: [],
      failedMcpServers: [],
    },
    {
      text: `The following deferred tools are now available via ToolSearch:\n${names.join('\n')}`,
      role: 'system',
    },
  )
  const types = ballast.agentLines.map((line) => line.slice(2, line.indexOf(':')))
  attach(
    t,
    {
      type: 'agent_listing_delta',
      addedTypes: types,
      addedLines: ballast.agentLines,
      builtInTypes: types,
      builtInPluginTypes: [],
      removedTypes: [],
      isInitial: true,
      showConcurrencyNote: true,
    },
    { text: `Available agent types for the Agent tool:\n${ballast.agentLines.join('\n')}`, role: 'system' },
  )
  attach(
    t,
    {
      type: 'skill_listing',
      content: ballast.skills,
      skillCount: ballast.skillNames.length,
      isInitial: true,
      names: ballast.skillNames,
      digests: ballast.skillNames.map((name) => name.padEnd(16, '0')),
    },
    {
      text: `The following skills are available for use with the Skill tool:\n\n${ballast.skills}`,
      role: 'system',
    },
  )
}

export function contextAttachments(t: Transcript): void {
  attach(t, { type: 'session_context', context: {} })
  const date = new Date(t.now).toISOString().slice(0, 10)
  attach(t, { type: 'date', date }, { text: `Today's date is ${date}.`, role: 'system' })
  attach(
    t,
    {
      type: 'remote_session_change',
      url: null,
      commit: 'Co-Authored-By: Claude Opus 5.5 <noreply@anthropic.com>',
      pr: '🤖 Generated with [Claude Code](https://claude.com/claude-code)',
      sendUserFileHint: false,
      managedCommit: false,
      managedPr: false,
    },
    { text: 'Attribution for git commits and pull requests you create from here on.', role: 'user' },
  )
}

/** Short at the start of a turn, with all tool schemas after the first tool call. */
export function snapshotAttachment(
  t: Transcript,
  ballast: Ballast,
  tools: 'with tools' | 'without tools',
): void {
  attach(t, {
    type: 'prompt_snapshot',
    systemPrompt: ballast.systemPrompt,
    ...(tools === 'with tools' ? { tools: ballast.tools.map((tool) => ({ ...tool, schema: tool })) } : {}),
    reminderFold: false,
    echoWireToolInputs: false,
    contextRendering: 'announced',
  })
}

export function mcpAttachment(t: Transcript): void {
  const block = `## lab\n${t.texts.prose(t.random, 200)}`
  attach(
    t,
    { type: 'mcp_instructions_delta', addedNames: ['lab'], addedBlocks: [block], removedNames: [] },
    { text: `# MCP Server Instructions\n\n${block}`, role: 'system' },
  )
}

export function autoModeAttachment(t: Transcript): void {
  attach(
    t,
    {
      type: 'auto_mode',
      autoModeConsentFlow: false,
      finishExposedWork: false,
      bashFirst: true,
      bashFirstSteer: 'relaxed',
      steerOnly: true,
      bypass: true,
    },
    {
      text: 'While bypass permissions mode is active: you can do much of your work through Bash.',
      role: 'system',
    },
  )
}

export function fileAttachment(t: Transcript): void {
  const filename = `${t.place.cwd}/src/main.ts`
  const content = t.texts.code(t.random, t.random.int(100, 3_000))
  const numLines = content.split('\n').length
  attach(
    t,
    {
      type: 'file',
      filename,
      content: {
        type: 'text',
        file: { filePath: filename, content, numLines, startLine: 1, totalLines: numLines },
      },
      displayPath: 'src/main.ts',
      savedCopyFraming: { enveloped: false },
    },
    { text: `Result of calling the Read tool:\n${content}`, role: 'user' },
  )
}

export function hookAttachments(t: Transcript, event: string): void {
  const context = t.texts.prose(t.random, 80)
  attach(t, {
    type: 'hook_success',
    hookName: event,
    toolUseID: t.random.uuid(),
    hookEvent: event,
    content: '',
    stdout: JSON.stringify({ hookSpecificOutput: { hookEventName: event, additionalContext: context } }),
    stderr: '',
    exitCode: 0,
    command: 'node hook-logger.mjs settings',
    durationMs: t.random.int(5, 300),
  })
  attach(
    t,
    {
      type: 'hook_additional_context',
      content: [context],
      hookName: event,
      toolUseID: event,
      hookEvent: event,
    },
    { text: `${event} hook additional context: ${context}`, role: 'system' },
  )
}

export function hookDecisionAttachment(t: Transcript, toolUseID: string): void {
  attach(t, {
    type: 'hook_permission_decision',
    decision: 'allow',
    toolUseID,
    hookEvent: 'PermissionRequest',
  })
}

/** A prompt typed while the agent was working: a message that never becomes a `user` line. */
export function queuedAttachment(t: Transcript, prompt: string, source: string, delivery: string): void {
  attach(
    t,
    {
      type: 'queued_command',
      prompt,
      source_uuid: source,
      delivery_id: delivery,
      commandMode: 'prompt',
      timestamp: t.timestamp(),
    },
    { text: `The user sent a new message while you were working:\n${prompt}`, role: 'system' },
    'message',
  )
}

export function tokensAttachment(t: Transcript): void {
  const text = `<total_tokens>${t.random.int(1, 15)}000000 tokens left</total_tokens>`
  attach(t, { type: 'total_tokens_reminder', text }, { text, role: 'system' })
}
