export { ThroughlineError } from '#base'
export type { ErrorCode } from '#base'
export type { Reading } from '#sources'
export { ENVIRONMENT } from './config.ts'
export type { EnvironmentVariable } from './config.ts'
export { openThroughline } from './open-throughline.ts'
export type { OpenOptions } from './open-throughline.ts'
export type {
  CheckReport,
  Config,
  Finding,
  ListOptions,
  Page,
  PageOptions,
  PassageOptions,
  Problem,
  SessionList,
  Throughline,
} from './throughline.ts'
