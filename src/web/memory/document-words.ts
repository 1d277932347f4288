import { object, shorten } from '#base'
import type {
  DirectiveKind,
  DocumentCategory,
  DocumentChange,
  DocumentState,
  DocumentType,
  LeftReason,
  MemoryDocument,
} from '#model'
import { safeLine } from '#render'

export const TYPE_NAMES: Readonly<Record<DocumentType, string>> = {
  learning: 'Learning',
  marker: 'Marker',
  teaching: 'Teaching',
  artifact: 'Artifact',
  message: 'Message',
}

/** What each type is for, said where one is chosen. */
export const TYPE_MEANINGS: Readonly<Record<DocumentType, string>> = {
  learning: 'Something worth knowing in the next session.',
  marker: 'A moment worth finding again. It is not told to new sessions by itself.',
  teaching: 'Guidance for other agents, and for those alone that you name.',
  artifact: 'A file that an agent made.',
  message: 'Something that was said.',
}

export const CATEGORY_NAMES: Readonly<Record<DocumentCategory, string>> = {
  identity: 'Identity',
  knowledge: 'Knowledge',
  operational: 'Operational',
  transcript: 'Transcript',
}

/** Those that a person chooses from. */
export const CATEGORIES: readonly DocumentCategory[] = ['knowledge', 'operational', 'identity']

export const STATE_NAMES: Readonly<Record<DocumentState, string>> = {
  active: 'Active',
  quarantined: 'Held back',
  expired: 'Expired',
  superseded: 'Superseded',
  retired: 'Retired',
}

/** The colour of a state, beside its name. */
export const STATE_TONES: Readonly<Record<DocumentState, string>> = {
  active: 'good',
  quarantined: 'warn',
  expired: '',
  superseded: '',
  retired: '',
}

export const CHANGE_NAMES: Readonly<Record<DocumentChange, string>> = {
  put: 'Written',
  imported: 'Imported',
  edited: 'Edited',
  confirmed: 'Said again',
  retired: 'Retired',
  restored: 'Restored',
  superseded: 'Superseded',
  pinned: 'Pinned',
  unpinned: 'No longer pinned',
  'expiry-set': 'Expiry changed',
  approved: 'Approved',
  deleted: 'Deleted',
}

export const LEFT_REASONS: Readonly<Record<LeftReason, string>> = {
  held: 'held back until somebody decides',
  expired: 'expired',
  'too-long': 'too long for one item',
  budget: 'no room left',
  'not-redacted': 'could not be checked for secrets',
  'contradiction-left-out': 'what contradicts it did not fit, and one side alone is not told',
}

/** What a directive asks for, and what came of it. */
export const DIRECTIVE_TYPES: Readonly<Record<DirectiveKind, Exclude<DocumentType, 'message'>>> = {
  remember: 'learning',
  marker: 'marker',
  teach: 'teaching',
}

export const DIRECTIVE_DONE: Readonly<Record<DirectiveKind, string>> = {
  remember: 'Remembered',
  marker: 'Marked',
  teach: 'Taught',
}

const HELD: ReadonlyMap<string, string> = new Map([
  ['instructs-the-agent', 'It reads like an instruction to the agent'],
  ['copied-from-tool', 'It was mostly copied from what a tool answered'],
  ['encoded-text', 'It holds text that nobody can read'],
  ['runs-a-command', 'It tells to run a command'],
  ['hides-from-the-person', 'It wants to be hidden from you'],
  ['address-with-secret', 'It holds an address with a secret in it'],
  ['too-long', 'It is longer than an agent may remember by itself'],
  ['too-many', 'The message asked for too much at once'],
  ['asks-to-be-pinned', 'It asks to be pinned, which only a person does'],
  ["replaces-a-person's", 'It would replace what a person wrote'],
  ['review', 'What agents remember waits for a person'],
  ['from-outside', 'It came from outside, and nobody here has approved it'],
  ['from-colleague', 'A colleague shares it, and nobody here has approved it'],
  ['changed-since-decided', 'It says something else since you decided about it'],
])

/** Why a document is held back, as a sentence has it. A reason that is not known here is said as it stands. */
export function toHeldWords(reason: string): string {
  const at = reason.indexOf(': ')
  const words = HELD.get(at < 0 ? reason : reason.slice(0, at))
  const detail = safeLine(at < 0 ? '' : reason.slice(at + 2)).slice(0, 200)
  if (words === undefined) return safeLine(reason)
  return detail === '' || reason.startsWith('review') ? words : `${words}: “${detail}”`
}

/** The first words of a document, on one line. */
export function toFirstWords(content: string, length = 90): string {
  return shorten(safeLine(content.slice(0, length * 4)).trim(), length)
}

/** Who wrote it down: a person by their name, or an agent. */
export function toAuthor(document: MemoryDocument): string {
  const { promotedBy, speakerType, speakerName, elsewhere } = document
  if (elsewhere !== undefined && !elsewhere.mine) return safeLine(elsewhere.person.slice(0, 60))
  const name = promotedBy ?? speakerName
  if (name !== undefined && name !== '') return safeLine(name.slice(0, 60))
  if (object(document.extra, 'outside') !== undefined) return 'somebody elsewhere'
  return speakerType === 'agent' ? 'the agent' : 'a person'
}

/** Who a document is for, where that is more than its author. */
export const SCOPE_NAMES: Readonly<Record<NonNullable<MemoryDocument['scope']>, string>> = {
  workdir: 'Shared for its folder',
  team: 'Shared with the team',
}
