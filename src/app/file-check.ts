import {
  createBreaks,
  createRepeatTracker,
  type Entry,
  type MissingParent,
  type OpenCall,
  type Place,
  type Repeat,
} from '#model'
import { findMalformedBlocks } from '#restore'
import type { Finding } from '#wire'

/** What is wrong in one file of a session, on the active path or beside it, before a compaction or behind. */
export interface FileCheck {
  add(entry: Entry): void
  /** `isCurrent` tells what the conversation still leads to. */
  finish(state: FileState): readonly Finding[]
  placeOf(entryId: string): Place | undefined
  /** The first entry of a type of lines. */
  firstOf(type: string): Standing | undefined
  /** The last entry that names a working directory. */
  lastCwd(): Standing | undefined
}

interface Standing {
  readonly entryId: string
  readonly place: Place
}

interface FileState {
  readonly isBusy: boolean
  readonly isCurrent: (entryId: string) => boolean
  /** Entries whose malformed blocks are told elsewhere. */
  readonly told: ReadonlySet<string>
}

export function createFileCheck(path: string): FileCheck {
  const breaks = createBreaks()
  const repeats = createRepeatTracker()
  const repeated: (Standing & { readonly repeat: Repeat })[] = []
  const malformed: (Standing & { readonly reason: string })[] = []
  const firsts = new Map<string, Standing>()
  let cwd: Standing | undefined

  return {
    add(entry) {
      const standing = { entryId: entry.id, place: entry.place }
      breaks.add(entry)
      const repeat = repeats.add(entry)
      if (repeat !== undefined) repeated.push({ ...standing, repeat })
      if (entry.cwd !== undefined) cwd = standing
      if (entry.kind === 'unknown' && !firsts.has(entry.type)) firsts.set(entry.type, standing)
      for (const { reason } of findMalformedBlocks(entry)) malformed.push({ ...standing, reason })
    },
    finish(state) {
      const { missingParents, unanswered, orphans } = breaks.finish()
      return [
        ...missingParents.map((missing) => at(missing, toMissing(missing))),
        ...unanswered.map((call) => at(call, toUnanswered(call, state))),
        ...orphans.map((result) => at(result, toOrphan(result, state))),
        ...repeated.map((line) => at(line, toRepeated(line.repeat))),
        ...malformed
          .filter(({ entryId }) => !state.told.has(entryId))
          .map((block) => at(block, toMalformed(block.reason))),
      ]
    },
    placeOf: (entryId) => breaks.placeOf(entryId),
    firstOf: (type) => firsts.get(type),
    lastCwd: () => cwd,
  }

  function at({ entryId, place }: Standing, what: What): Finding {
    return { ...what, path, entryId, offset: place.offset, length: place.length }
  }
}

type What = Pick<Finding, 'severity' | 'code' | 'message' | 'hint'>

function toMissing({ parentId, lines, isFirst, isSpoken }: MissingParent): What {
  if (isFirst) {
    return {
      severity: 'warning',
      code: 'beginning-missing',
      message: `the file begins in the middle: its first line continues ${parentId}, which is not in it`,
      hint: 'What came before was cut off or is in another file. Look for it in the archive, or where the file was copied from.',
    }
  }
  const others = lines === 1 ? '' : `, as ${String(lines - 1)} more do`
  return {
    severity: isSpoken ? 'warning' : 'note',
    code: 'dangling-parent',
    message: `names a parent (${parentId}) that was never written${others}`,
    hint: isSpoken
      ? 'Throughline joined it to the entry before it in the file, so nothing is hidden. The agent itself may resume with less.'
      : 'Only hooks and records hang from it. What was to stand there, often an answer that was broken off, is not in the file.',
  }
}

function toUnanswered({ callId, entryId }: OpenCall, { isBusy, isCurrent }: FileState): What {
  const hint = isBusy
    ? 'The session is running; it may still come.'
    : 'The agent was stopped while the tool ran. Whether the tool did its work is not recorded: check before you repeat it.'
  const isNote = isBusy || !isCurrent(entryId)
  return {
    severity: isNote ? 'note' : 'warning',
    code: 'unanswered-call',
    message: `the tool call ${callId} has no result`,
    hint,
  }
}

function toOrphan({ entryId }: OpenCall, { isCurrent }: FileState): What {
  return {
    severity: isCurrent(entryId) ? 'warning' : 'note',
    code: 'orphan-result',
    message: 'a tool result without its call',
    hint: 'The call was on a line that is lost. The result is shown where it stands.',
  }
}

function toMalformed(reason: string): What {
  return {
    severity: 'note',
    code: 'block-malformed',
    message: reason,
    hint: 'It is not in what the agent sends now, and shown as it is.',
  }
}

function toRepeated(repeat: Repeat): What {
  return {
    severity: 'warning',
    code: repeat === 'same' ? 'entry-repeated' : 'id-shared',
    message:
      repeat === 'same'
        ? 'a line with the same id and the same content stands in the file before it'
        : 'another line with the same id stands in the file before it, and says something else',
    hint:
      repeat === 'same'
        ? 'It is shown once. The file was probably joined from copies; nothing is missing.'
        : 'Both are shown. The agent itself resumes with the last one.',
  }
}
