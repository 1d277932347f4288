export { findMode, PERMISSION_MODES } from './agent-fact.ts'
export type {
  Abilities,
  AgentModel,
  DeltaFact,
  MessageFact,
  PermissionMode,
  RetryingFact,
  TurnContext,
  TurnOutcome,
} from './agent-fact.ts'
export type {
  Answer,
  AnswerOutcome,
  Ask,
  Attention,
  AttentionState,
  LapseReason,
  PermissionAsk,
  PermissionRule,
  Question,
  QuestionAsk,
  Resolution,
} from './attention.ts'
export { BLOBS_FIELD, blobsOf, putBlobsBack, takeBlobsOut } from './line-blobs.ts'
export type { BlobReference, PutBack, TakenOut, TakingOut } from './line-blobs.ts'
export { readBlocks, textOf } from './block.ts'
export type {
  Block,
  DocumentBlock,
  ImageBlock,
  MediaSource,
  RedactedThinkingBlock,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolUseBlock,
  UnknownBlock,
} from './block.ts'
export { compactionBillKey, readCostState } from './compaction-cost.ts'
export type { CostState, CostTotals } from './compaction-cost.ts'
export { compactionKey, readCompaction, savedTokens, toCompactionFact } from './compaction.ts'
export type { CompactionFact } from './compaction.ts'
export type { Compaction, Preserved } from './compaction.ts'
export type { CompactionRecord, Trim } from './compaction-record.ts'
export { toContent, toUsageFields } from './content.ts'
export { createTally, factsToCounts, tallyDamage, tallyEntry, toCounts } from './counts.ts'
export type { SessionCounts, Tally } from './counts.ts'
export { DIGEST_COMMANDS } from './digest.ts'
export type { BranchPath, Digest, OutlinePoint, RunCommand, TouchedFile } from './digest.ts'
export { createDigestFold, toPromptLine } from './digest-fold.ts'
export type { DigestFold } from './digest-fold.ts'
export { endsAnswer, isSpoken, isWakeUpEntry, workOf } from './entry.ts'
export { readCall, readPatched, toolFamily } from './known-call.ts'
export type { KnownCall, PatchedFile } from './known-call.ts'
export type {
  CommandEntry,
  CompactionEntry,
  ContextEntry,
  DelegatedEntry,
  Decision,
  Entry,
  EntryKind,
  Envelope,
  InjectionEntry,
  InterruptionEntry,
  Link,
  NoticeEntry,
  OversizeEntry,
  PromptEntry,
  Provider,
  RecordEntry,
  ReplyEntry,
  ResultEntry,
  SummaryEntry,
  UnknownEntry,
} from './entry.ts'
export { countDiff, countLineDiff, toLineDiff } from './line-diff.ts'
export type { DiffLine } from './line-diff.ts'
export type {
  AsideMessage,
  CommandMessage,
  CompactionMessage,
  Message,
  NoticeMessage,
  OrphanMessage,
  Passage,
  PromptMessage,
  ReplyMessage,
  ToolAnswer,
  ToolCall,
} from './message.ts'
export { countsAsMessage, createPassageFold, toPassages } from './passages.ts'
export { toPromptTitle } from './prompt-title.ts'
export { createQueueTracker, findDelivered, isQueued } from './queue.ts'
export type { QueuedWords, QueueState, QueueTracker } from './queue.ts'
export type { PassageFold, Way } from './passages.ts'
export { createRepeatFinder } from './repeat-finder.ts'
export { createRepeatTracker } from './repeats.ts'
export type { Repeat, RepeatTracker } from './repeats.ts'
export { placeOf } from './reading.ts'
export type { Reading } from './reading.ts'
export { appendDamage } from './place.ts'
export type { Damage, DamageReason, Place } from './place.ts'
export { isCopied, isMereCopy, isSaidElsewhere, ownSince, toCopyName } from './copies.ts'
export { byActivity, isLive, isWaitingForYou, transcriptsOf } from './session.ts'
export type {
  CopiedFrom,
  LiveState,
  RecordedSession,
  SessionFacts,
  SessionSummary,
  SideFile,
  SubagentSummary,
} from './session.ts'
export type {
  PromptAuthor,
  Invited,
  SessionOrigin,
  TeamMachine,
  TeamPerson,
  TeamRole,
  TeamSelf,
  TeamShare,
} from './team.ts'
export { addUsage, contextSize, NO_USAGE } from './usage.ts'
export type { Usage } from './usage.ts'
export { toMessages } from './assemble.ts'
export type { AssembleOptions } from './assemble.ts'
export { toChangedCall, withChangedCalls } from './changed-call.ts'
export type { ChangedCall } from './changed-call.ts'
export { createBreaks } from './breaks.ts'
export type { Breaks, BreakFold, MissingParent, OpenCall } from './breaks.ts'
export { createChain } from './chain.ts'
export type { Branch, Chain, ChainFold } from './chain.ts'
export type { Bridge } from './chain-links.ts'
export type { Loss, LossKind, Origin } from './loss.ts'
export { TARGETS } from './target.ts'
export type { Target, TokenState } from './target.ts'
export type { Mend, Trouble, TroubleKind } from './trouble.ts'
export { BEFORE_ANSWERS, createAnswerTracker } from './answers.ts'
export type { AnswerState, AnswerTracker } from './answers.ts'
export { createBilling } from './billing.ts'
export type { Bill, Billing, BillSetting, Spent } from './billing.ts'
export { billKey, createLedger } from './ledger.ts'
export type { UsageLedger } from './ledger.ts'
export { createSurvey } from './survey.ts'
export type { Survey, SurveyResult } from './survey.ts'
export type { Steps } from './steps.ts'
export { startsTurn, toTurns } from './turn.ts'
export { faultOf } from './turn-fault.ts'
export type { TurnFault } from './turn-fault.ts'
export type { Turn } from './turn.ts'
export type {
  EndReason,
  LivePrompt,
  NewPrompt,
  PromptReceipt,
  PromptState,
  SessionCursor,
  SessionEvent,
  SessionFact,
  SessionState,
  SessionView,
  TurnSoFar,
} from './live-session.ts'
export { OWN_NOTES } from './live-session.ts'
export { findEndReason, findPromptState } from './live-words.ts'
export { createView, toState } from './session-view.ts'
export type { GrowingView } from './session-view.ts'
export type { FolderSettings, SettingsEffect, SettingsFile, TrustState } from './folder-settings.ts'
export type {
  AuditBreak,
  AuditedAsk,
  AuditedBy,
  AuditedDevice,
  AuditedEnd,
  AuditedInput,
  AuditedRule,
  AuditEntry,
  AuditFact,
  AuditReport,
  AuditVerdict,
} from './audit.ts'
export {
  isDocumentCategory,
  isDocumentType,
  readDocument,
  readSpeaker,
  toDefaultCategory,
  toDocumentJson,
  toDocumentState,
  toPromotedId,
} from './document.ts'
export type {
  DocumentAudience,
  DocumentCategory,
  DocumentState,
  DocumentType,
  FileBinding,
  MemoryDocument,
  Provenance,
} from './document.ts'
export type { DocumentScope, DocumentSide } from './document-sharing.ts'
export { matchesQuery, tellsSomething, toDelivery, toFoldedWords, toMatching } from './document-query.ts'
export type { AnyOf, DocumentDelivery, DocumentQuery } from './document-query.ts'
export { createDocumentFold, readVersion, toVersionJson, versionKeyOf } from './document-versions.ts'
export type { DocumentChange, DocumentFold, DocumentVersion } from './document-versions.ts'
export type { DocumentDraft, DocumentPatch } from './document-draft.ts'
export { readSigner, toDeviceName, toShortSigner, toSigner } from './device-name.ts'
export { createDirectiveStream, hasDirectives, parseDirectives, renderDirective } from './directives.ts'
export type {
  Directive,
  DirectiveKind,
  DirectiveNotice,
  DirectiveReading,
  DirectiveStream,
} from './directives.ts'
export { escapeBody, escapeLine } from './wake-up-escape.ts'
export {
  isWakeUp,
  parseWakeUp,
  renderItem,
  renderLine,
  renderTranscript,
  renderWakeUp,
  WAKE_UP_SECTIONS,
} from './wake-up-format.ts'
export type {
  WakeUpContext,
  WakeUpItem,
  WakeUpLine,
  WakeUpParts,
  WakeUpSection,
  WakeUpTranscript,
} from './wake-up-format.ts'
export { readWakeUpReceipt } from './wake-up-receipt.ts'
export type {
  CarriedDocument,
  CarriedMessage,
  LeftDocument,
  LeftMessages,
  LeftReason,
  WakeUpBudget,
  WakeUpReceipt,
} from './wake-up-receipt.ts'
export { AGENT_NAMES, isNativeAgent, NATIVE_AGENTS, toResumeCommand } from './native-agent.ts'
export type { NativeAgent } from './native-agent.ts'
