export { readBackward } from './backward.ts'
export type { BackwardOptions, LineBatch } from './backward.ts'
export { createClaudeLayout } from './claude-layout.ts'
export { createClaudeSource } from './claude/source.ts'
export { claudeFormat } from './claude/read-line.ts'
export { createCodexSource } from './codex/source.ts'
export type { CodexSourceOptions } from './codex/source.ts'
export { codexFormat } from './codex/read-line.ts'
export { createBillReader } from './bill-reader.ts'
export type { BilledMessage, BillReader, FileBills, FoundCompaction } from './claude/usage-scan.ts'
export { createEntireSource } from './entire/source.ts'
export type { EntireOptions } from './entire/source.ts'
export { findRecorder } from './entire/recorder-process.ts'
export { cursorAfter, cursorAt, findOffset, offsetOf, prepareCursor } from './cursor.ts'
export { readConversation, readConversationFrom } from './conversation.ts'
export type { Conversation } from './conversation.ts'
export { MIRROR_MARK, MIRROR_SUFFIX, setFiller } from './filler.ts'
export type { FileRange, Filler } from './filler.ts'
export { formatOf } from './format-of.ts'
export { createFollower } from './follower.ts'
export type { Follower, FollowEvent, FollowOptions } from './follower.ts'
export { bySession, lifeOf, toLive } from './holder.ts'
export type { Holder, Registry, RegistryReading } from './holder.ts'
export { createGeminiSource } from './gemini/source.ts'
export { endOfLines } from './line-end.ts'
export { MAX_LINE, readForward } from './forward.ts'
export type { Batch, ReadOptions } from './forward.ts'
export { lineReaderOf } from './salvage.ts'
export type { LineReader } from './salvage.ts'
export { createOpencodeSource } from './opencode/source.ts'
export { findEntryLine, findLineAt, findTimeLine } from './places.ts'
export { readPageAfter, readPageBefore } from './pages.ts'
export type { Page, PageOptions } from './pages.ts'
export type {
  LineFormat,
  RecordPlace,
  RecordReader,
  SessionFiles,
  Source,
  SourceFiles,
  SourceList,
  SourceProblem,
} from './source.ts'
export { openPlainFile, openTranscript } from './transcript-file.ts'
export type { Meter, TranscriptFile } from './transcript-file.ts'
export type { ObjectScanner } from './object-scanner.ts'
