import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Makes lines as Claude Code writes them, for what no recorded session shows: damage, cycles, old versions. */
export interface LineMaker {
  prompt(text: string, fields?: object): ChainLine
  reply(content: readonly object[], fields?: object): ChainLine
  result(toolUseId: string, content: unknown, fields?: object): ChainLine
  attachment(type: string, fields?: object): ChainLine
  system(subtype: string, fields?: object): ChainLine
}

export interface ChainLine {
  readonly uuid: string
  readonly parentUuid: string | null
  readonly [field: string]: unknown
}

export const SESSION = '0c0ffee0-0000-4000-8000-000000000001'

/** Each line hangs from the one before it, unless its fields say otherwise. */
export function createLines(options: { readonly sessionId?: string; readonly cwd?: string } = {}): LineMaker {
  const { sessionId = SESSION, cwd = '/home/user/work/made' } = options
  let count = 0
  let last: string | null = null

  function line(type: string, body: object, fields: object): ChainLine {
    count++
    const uuid = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`
    const made = {
      parentUuid: last,
      isSidechain: false,
      type,
      ...body,
      uuid,
      timestamp: new Date(Date.UTC(2026, 10, 15, 8, 0, count)).toISOString(),
      userType: 'external',
      entrypoint: 'cli',
      cwd,
      sessionId,
      version: '2.1.325',
      gitBranch: 'main',
      ...fields,
    }
    last = made.uuid
    return made
  }

  return {
    prompt: (text, fields = {}) =>
      line('user', { message: { role: 'user', content: text }, promptSource: 'typed' }, fields),
    reply: (content, fields = {}) => {
      const id = `msg_${count + 1}`
      const usage = {
        input_tokens: 10,
        output_tokens: 5,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      }
      const message = {
        id,
        type: 'message',
        role: 'assistant',
        model: 'claude-opus-5-5',
        content,
        stop_reason: 'end_turn',
        usage,
      }
      return line('assistant', { message, requestId: `req_${id}` }, fields)
    },
    result: (toolUseId, content, fields = {}) =>
      line(
        'user',
        { message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: toolUseId, content }] } },
        fields,
      ),
    attachment: (type, fields = {}) => line('attachment', { attachment: { type } }, fields),
    system: (subtype, fields = {}) => line('system', { subtype, content: '', level: 'info' }, fields),
  }
}

/** Lines as a file has them. */
export function toJsonl(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** Puts a transcript where Claude Code would, and gives its path. */
export async function writeTranscript(
  configDir: string,
  content: string | Uint8Array,
  options: { readonly id?: string; readonly project?: string } = {},
): Promise<string> {
  const { id = SESSION, project = '-home-user-work-made' } = options
  const path = join(configDir, 'projects', project, `${id}.jsonl`)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
  return path
}
