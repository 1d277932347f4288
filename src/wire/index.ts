export { readImportRequest } from './import-request.ts'
export { readAsk, readAttention, readAttentionState, readResolution } from './attention-json.ts'
export type { CheckReport, Finding } from './check.ts'
export { DIGEST_COMMANDS } from '#model'
export type { BranchPath, Digest, OutlinePoint, RunCommand, TouchedFile } from '#model'
export { CLOSE_REASONS } from './frames.ts'
export type { DaemonFrame, DeviceFrame, WireEvent } from './frames.ts'
export type { ArchiveState, Health, IndexState, LiveSession, Notice } from './health.ts'
export type { ListOptions, Problem, SessionList } from './listing.ts'
export type {
  AgentOffer,
  AnswerRequest,
  AskRequest,
  AuditFile,
  BoardCard,
  FolderReport,
  KnownWorkdir,
  ForkRequest,
  LiveCalls,
  PendingAsk,
  PromptRequest,
  RenewRequest,
  ResumeRequest,
  RunRequest,
  StartRequest,
  TrustChoice,
} from './live-calls.ts'
export {
  readAnswerRequest,
  readAskRequest,
  readFolder,
  readForkRequest,
  readModeChange,
  readModelChange,
  readPromptRequest,
  readRenewRequest,
  readResumeRequest,
  readStartRequest,
  readTrustChoice,
} from './live-requests.ts'
export { isDocumentId } from './document-id.ts'
export {
  readDocumentDraft,
  readDocumentPatch,
  readDocumentQuery,
  readFacetValues,
} from './document-requests.ts'
export type { LiveRouteName } from './live-routes.ts'
export type { LiveEvent, ResetReason, Subscription, Topic } from './live.ts'
export type {
  ArtifactContent,
  BoundFile,
  CarriedIn,
  ChangeAuthor,
  DocumentAction,
  DocumentTrace,
  ImportReport,
  ImportRequest,
  KeptWakeUp,
  MemoryCalls,
  NearDocument,
  PickedAt,
  PreviousTranscript,
  QueryOptions,
  RecallAnswer,
  RecallHit,
  RecallRequest,
  RememberOutcome,
  RememberRequest,
  Review,
  WakeElsewhereRequest,
  WakeUpPreview,
  WakeUpRequest,
} from './memory-calls.ts'
export {
  readDocumentAction,
  readQueryLimit,
  readRecallRequest,
  readRememberRequest,
  readShownVersion,
  readTagText,
  readWakeElsewhereRequest,
  readWakeUpRequest,
} from './memory-requests.ts'
export type { MemoryRouteName } from './memory-routes.ts'
export type { Page, PageOptions, PagePlace } from './page.ts'
export { PROTOCOL } from './protocol.ts'
export type { ErrorBody } from './protocol.ts'
export { fromWireReading, toWireReading } from './reading-json.ts'
export type { BytesCodec, WireBytes } from './reading-json.ts'
export {
  findDeviceFrame,
  isSessionId,
  readConversationOptions,
  readExportFormat,
  readListOptions,
  readPageOptions,
  readSearchRequest,
  readSessionChange,
  readUsageRequest,
} from './requests.ts'
export type { ExportFormat, QueryValues, SessionChange } from './requests.ts'
export { readPromptBlocks } from './prompt-json.ts'
export { ROUTES } from './routes.ts'
export type { Parameter, Route } from './route.ts'
export type { RouteName } from './routes.ts'
export type { SearchHit, SearchPage, SearchRequest, SearchTier, Snippet } from './search.ts'
export type { ConversationOptions, PassageOptions, SubscribeOptions, Throughline } from './throughline.ts'
export type { PriceList, UsageReport, UsageRequest, UsageRow, UsageTotals } from './usage-report.ts'
export {
  readCompactRequest,
  readConvertRequest,
  readForkCopyRequest,
  readNativeAgent,
  readTarget,
} from './restore-requests.ts'
export type { RestoreRouteName } from './restore-routes.ts'
export type {
  CompactionState,
  CompactRequest,
  ConvertOutcome,
  ConvertRequest,
  ForkCopy,
  ForkCopyRequest,
  Lineage,
  LineageLink,
  Preflight,
  RepairOutcome,
  RestoreCalls,
  RestoredSession,
  RestoredTurn,
} from './restore-calls.ts'
export { deferCalls } from './deferred-calls.ts'
export { readContinueRequest, readShare, toShareBody } from './team-requests.ts'
export type { TeamRouteName } from './team-routes.ts'
export type {
  ContinueOutcome,
  ContinueRequest,
  HeldLine,
  OutboxReport,
  TeamCalls,
  TeamStatus,
} from './team-calls.ts'
export { readPreviousTranscript } from './previous-transcript.ts'
