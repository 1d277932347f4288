/** What a slash command line says: the command as typed, or what it printed. */
export interface CommandText {
  readonly command?: string
  readonly args?: string
  readonly output?: string
}

/** Recognises the tags Claude Code puts around slash commands, shell escapes and their output. */
export function readCommand(text: string): CommandText | undefined {
  const start = text.trimStart()
  if (start.startsWith('<command-')) {
    const command = between(text, 'command-name')
    if (command === undefined) return undefined
    const args = between(text, 'command-args')
    return { command: command.trim(), ...(args === undefined || args === '' ? {} : { args }) }
  }
  if (start.startsWith('<bash-input>')) return { command: '!', args: between(text, 'bash-input') ?? '' }
  for (const tag of ['local-command-stdout', 'local-command-stderr']) {
    if (start.startsWith(`<${tag}>`)) return { output: between(text, tag) ?? '' }
  }
  if (start.startsWith('<bash-stdout>') || start.startsWith('<bash-stderr>')) {
    const parts = [between(text, 'bash-stdout'), between(text, 'bash-stderr')]
    return { output: parts.filter((part) => part !== undefined && part !== '').join('\n') }
  }
  return undefined
}

function between(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`)
  if (start < 0) return undefined
  const from = start + tag.length + 2
  const end = text.indexOf(`</${tag}>`, from)
  return text.slice(from, end < 0 ? undefined : end)
}
