/** What an agent would load from a folder once the folder is trusted. Shown to a person before. */
export interface FolderSettings {
  readonly workdir: string
  /** Of every listed file, names and bytes: any change makes another one. */
  readonly hash: string
  readonly files: readonly SettingsFile[]
  /** What runs, allows or redirects something, in the order of its weight. */
  readonly effects: readonly SettingsEffect[]
}

export interface SettingsFile {
  /** From the folder: `.claude/settings.json`, `../CLAUDE.md`. */
  readonly path: string
  readonly bytes: number
  readonly hash: string
  /** Why it was not read whole, or where it leads to, for a person. */
  readonly problem?: string | undefined
}

/** One thing that a file does. */
export interface SettingsEffect {
  readonly kind:
    | 'hook'
    | 'mcp-server'
    | 'command'
    | 'allow'
    | 'mode'
    | 'environment'
    | 'instructions'
    | 'other'
  /** `PreToolUse(Bash)`, `mcp server files`. */
  readonly name: string
  /** The command, the address, the rule: whole. */
  readonly what: string
  readonly file: string
}

/** `changed`: it was trusted, and is not what it was then. */
export type TrustState = 'trusted' | 'changed' | 'unknown' | 'nothing-to-load'
