export { ThroughlineError } from '#base'
export type { ErrorCode } from '#base'
export type { Reading } from '#model'
export { findSettingTroubles } from './settings-check.ts'
export { SETTINGS } from './settings-keys.ts'
export type { Setting, SettingKind } from './settings-keys.ts'
export { ENVIRONMENT, isWithinRoots, readConfig } from './config.ts'
export type { ConfigSources, EnvironmentVariable } from './config.ts'
export { watchAttentions } from './attention-watch.ts'
export type { AttentionWatchOptions } from './attention-watch.ts'
export { finishRecordingsIn } from './finish-recordings.ts'
export { createNotifier } from './desktop-notice.ts'
export type { Notifier, NotifierOptions } from './desktop-notice.ts'
export { exportSession } from './session-export.ts'
export type { MaskedSecrets, SessionExport, SessionExportOptions } from './session-export.ts'
export { maskSecrets } from './mask-secrets.ts'
export { openThroughline } from './open-throughline.ts'
export { findAlarms, findRecorders, openRecorderStatus } from './recorder-status.ts'
export type { RecorderAlarm, RecorderConversation, RecorderState, RecorderStatus } from './recorder-status.ts'
export { beginTeam, joinTeam, leaveTeam, openBook, updateTeam } from './team-membership.ts'
export type { Joining, NewTeam } from './team-membership.ts'
export type { OpenOptions } from './open-throughline.ts'
export type { Config, LocalThroughline } from './throughline.ts'
export type {
  CheckReport,
  Finding,
  ListOptions,
  Page,
  PageOptions,
  PassageOptions,
  Problem,
  SessionList,
  Throughline,
} from '#wire'
