export { ERROR_CODES, ThroughlineError } from './error.ts'
export type { ErrorCode } from './error.ts'
export { boolean, field, isObject, list, number, object, parseJson, string } from './foreign.ts'
export type { JsonObject } from './foreign.ts'
