/**
 * Places whose words are not shown, found or exported as they stand, each with the reason. `docs/formats` says more
 * of them. What is not named here and is missing somewhere is a finding.
 */
const EXPLAINED = [
  [/\.(?:parent|logicalParent|leaf|source\w*|message|tool|parentTool|hook)?u?uid$/i, 'ids'],
  [/(?:Id|ID|_id|UUID|Uuid|uuid|\.id|Ids\[\]|slug|hash|Hash)$/, 'ids'],
  [/(?:[tT]imestamp|Time|_at|At|\.date|[dD]uration\w*|resets?\w*)$/, 'times'],
  [
    /\.(?:type|version|cli_version|entrypoint|userType|role|model|modelID|providerID|subtype)$/,
    'names of kinds and models',
  ],
  [
    /\.(?:signature|encrypted_content|thoughtSignature|thinkingSignature|reasoningEncryptedContent|itemId)$/,
    'sealed',
  ],
  [/^claude file-history-snapshot/, 'names of backups of files, kept by Claude Code for its own rewind'],
  [
    /^claude progress\/(?:hook|bash|mcp|query|search)\w*_?progress/,
    'what a command had printed so far; its result has all of it',
  ],
  [/toolUseResult\S*\.originalFile$/, 'the file before an edit'],
  [/toolUseResult\S*\.structuredPatch/, 'lines of a file around an edit; the edit is shown'],
  [
    /^claude user\.toolUseResult(?:\.stdout|\.mode|\.returnCodeInterpretation)?$/,
    "the client's copy of what stands in the result",
  ],
  [/^claude (?:system\/stop_hook_summary|attachment\/hook_\w+)/, 'what hooks ran and printed: a record'],
  [
    /^claude attachment\/(?:deferred_tools_delta|agent_listing_delta|skill_listing|mcp_instructions\w*)/,
    'lists of tools, agents and skills that the client gives the model',
  ],
  [/^claude system\/api_error\.error\.headers/, 'headers of an HTTP answer'],
  [/^claude last-prompt/, 'a copy of the last prompt'],
  [
    /^codex session_meta\.payload\.(?:base_instructions|git)/,
    "Codex's own instructions, and where the folder stands in git",
  ],
  [/^codex turn_context/, 'settings of a turn; their instructions stand in a message too'],
  [
    /^codex event_msg\/(?:patch_apply|mcp_tool_call|exec_command|web_search)_end/,
    "the client's copy of a call and its result",
  ],
  [/\.gitBranch$|\.cwd$|\.repository_url$/, 'where it happened'],
  [
    /^gemini gemini\.toolCalls\[\]\.(?:description|resultDisplay)/,
    "the client's own words for a call and its result",
  ],
]

/** Places that count tokens: whether they are billed, and if not, why. */
const COUNTED = [
  [
    /^claude assistant\.message\.usage$|agent_progress\.data\.message\.message\.usage$/,
    'billed, each message once',
  ],
  [
    /\.usage\.(?:cache_creation|iterations\[\](?:\.cache_creation)?|server_tool_use)$/,
    'parts of the sum beside them',
  ],
  [
    /^claude user\.toolUseResult\S*\.usage$/,
    "the last reply of a subagent, billed from the subagent's own lines",
  ],
  [
    /token_count\.payload\.info\.last_token_usage$|token_usage_record\.payload\.usage$/,
    'billed, each response once',
  ],
  [/token_count\.payload\.info\.total_token_usage$/, 'the running sum of what is billed'],
  [/^gemini gemini\.tokens$|^opencode message\/assistant\.tokens$/, 'billed, each message once'],
  [/^opencode part\/step-finish\.tokens$/, 'steps of a message, billed with it'],
]

export function billingOf(place) {
  return COUNTED.find(([pattern]) => pattern.test(place))?.[1] ?? 'not explained'
}

export function reasonFor(place) {
  return EXPLAINED.find(([pattern]) => pattern.test(place))?.[1]
}
