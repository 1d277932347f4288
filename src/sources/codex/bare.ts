import { isObject, object, parseJson, string } from '#base'
import { textOf, type Entry, type Envelope } from '#model'
import type { FieldReader } from '../field-reader.ts'
import type { RecordPlace } from '../source.ts'
import { readItem } from './items.ts'
import { KEY } from './keys.ts'

/**
 * The entry for a line without an envelope, as Codex wrote them before version 0.33: a first line that names the
 * thread, items that stand for themselves, and marks of its state. Nothing for any other line.
 */
export function readBare(
  fields: FieldReader,
  bytes: Buffer,
  { record, envelope }: { readonly record: RecordPlace; readonly envelope: Envelope },
): Entry | undefined {
  if (fields.has(KEY.record_type))
    return { kind: 'record', ...envelope, type: fields.repeated(bytes, KEY.record_type) ?? '' }
  if (ITEMS.has(envelope.type)) {
    const item = parseJson(bytes.toString('utf8', record.from, record.to))
    return isObject(item) ? withFolder(readItem(item, envelope, undefined)) : undefined
  }
  if (envelope.type !== '' || !fields.has(KEY.id) || envelope.at === undefined) return undefined
  return {
    kind: 'record',
    ...envelope,
    type: 'session_meta',
    sessionId: fields.text(bytes, KEY.id),
    gitBranch: string(object({ git: fields.value(bytes, KEY.git) }, 'git'), 'branch'),
  }
}

/** The items that Codex wrote before lines had envelopes. */
const ITEMS: ReadonlySet<string> = new Set([
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'local_shell_call',
  'custom_tool_call',
  'custom_tool_call_output',
  'web_search_call',
])

/** Only what the model was told of its environment says where a thread worked. */
function withFolder(entry: Entry): Entry {
  if (entry.kind !== 'injection') return entry
  const [, tag, words] = FOLDER.exec(textOf(entry.blocks)) ?? []
  return { ...entry, cwd: tag ?? words?.trim() }
}

const FOLDER =
  /^\s*<environment_context>[\s\S]{0,1000}?(?:<cwd>([^<\n]{1,4096})<\/cwd>|^Current working directory: ([^\n]{1,4096})$)/mu
