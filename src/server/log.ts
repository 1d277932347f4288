/** Facts of one line of the log. Never a credential, a query string or words of a transcript. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

/** Takes note of something. Never throws, never makes anybody wait. */
export type Log = (level: 'info' | 'warn' | 'error', event: string, fields?: LogFields) => void

/** What is known about an error: what it is and where, but not words that it may quote from a transcript. */
export function toLogFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: typeof error }
  const code = 'code' in error ? String(error.code) : undefined
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return {
    error: error.name,
    code,
    // The system's own errors say what they could not do with which file.
    message: code === undefined ? undefined : error.message.slice(0, 500),
    where: frames.slice(0, 8).join('\n'),
  }
}
