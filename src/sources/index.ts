export { readBackward } from './backward.ts'
export type { BackwardOptions, LineBatch } from './backward.ts'
export { createClaudeSource } from './claude/source.ts'
export { claudeFormat } from './claude/read-line.ts'
export { readConversation } from './conversation.ts'
export type { Conversation } from './conversation.ts'
export { createFollower } from './follower.ts'
export type { Follower, FollowEvent, FollowOptions } from './follower.ts'
export { MAX_LINE, readForward } from './forward.ts'
export type { Batch, ReadOptions } from './forward.ts'
export { readPageAfter, readPageBefore } from './pages.ts'
export type { Page, PageOptions } from './pages.ts'
export { placeOf } from './source.ts'
export type {
  LineFormat,
  Reading,
  RecordPlace,
  RecordReader,
  Source,
  SourceList,
  SourceProblem,
} from './source.ts'
export { openTranscript } from './transcript-file.ts'
export type { Meter, TranscriptFile } from './transcript-file.ts'
export type { ObjectScanner } from './object-scanner.ts'
