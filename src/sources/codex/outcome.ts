import { isObject, list, number, object, parseJson, string } from '#base'

/**
 * Whether what a tool gave back says that it failed. Codex has no mark for it: a command's exit code stands in the
 * lines above its output, older versions wrote JSON with the code beside the output, and what the client itself
 * answers for a tool begins with a few known words.
 */
export function isFailure(output: unknown): boolean {
  if (typeof output === 'string') return isFailureText(output)
  const [first] = Array.isArray(output) ? output : list(output, 'content')
  const text = string(first, 'text')
  if (text === undefined) return isObject(output) && output['success'] === false
  return /^Script (?:failed|error|terminated)/u.test(text) || isFailureText(text)
}

function isFailureText(text: string): boolean {
  if (text.startsWith('{"output":')) {
    const code = number(object(parseJson(text), 'metadata'), 'exit_code')
    return code !== undefined && code !== 0
  }
  const outputAt = text.indexOf('\nOutput:')
  const header = outputAt < 0 ? text.slice(0, HEADER) : text.slice(0, Math.min(outputAt, HEADER))
  const code = EXIT.exec(header)?.[1]
  if (code !== undefined) return isHeader(header) && Number(code) !== 0
  return REFUSALS.test(text)
}

/** A line of a command's own output may look like an exit code: it counts above the output only. */
function isHeader(header: string): boolean {
  return /^(?:Chunk ID|Wall time|Exit code|Process|Command)/u.test(header)
}

const HEADER = 1000
const EXIT = /^(?:Process exited with code|Exit code:?) (-?\d+)/mu
const REFUSALS =
  /^(?:aborted\b|exec_command failed|apply_patch verification failed|failed to parse function arguments|unsupported (?:custom tool )?call|execution error|tool call error|err: |exec command rejected|patch rejected|command timed out)/u
