import { ThroughlineError } from '#base'
import type { PermissionMode } from '#model'

/** From the one that allows least to the one that allows everything. */
const WIDTH: Readonly<Record<PermissionMode, number>> = { plan: 0, default: 1, 'accept-edits': 2, bypass: 3 }

/** What a session begins with: what was asked for, what an earlier host stored, what the local configuration allows. */
export interface ModeRequest {
  readonly mode: PermissionMode
  readonly stored?: PermissionMode | undefined
  readonly configured?: PermissionMode | undefined
}

/**
 * Refuses (`mode-not-allowed`) to begin in a mode that is wider than the one that the session had, and in `bypass`,
 * unless the local configuration allows it.
 */
export function checkFirstMode({ mode, stored, configured }: ModeRequest): void {
  const asked = stored ?? mode
  checkMode(mode, wider(asked === 'bypass' ? 'accept-edits' : asked, configured))
}

/**
 * How far a session may be opened by anybody who can reach it: as far as it was when it began, at least to `default`,
 * where a person is asked; further only when the local configuration says so.
 */
export function widestOf(begun: PermissionMode, configured: PermissionMode | undefined): PermissionMode {
  return wider(wider('default', begun), configured)
}

/** Whether a mode asks a person at least as much as another. */
export function isWithin(mode: PermissionMode, widest: PermissionMode): boolean {
  return WIDTH[mode] <= WIDTH[widest]
}

/** Refuses (`mode-not-allowed`) a mode that asks a person less than `widest` does. */
export function checkMode(mode: PermissionMode, widest: PermissionMode): void {
  if (isWithin(mode, widest)) return
  throw new ThroughlineError('mode-not-allowed', `the mode ${mode} would ask less than ${widest} does`, {
    hint: 'Only the configuration on the machine itself can allow it.',
  })
}

function wider(a: PermissionMode, b: PermissionMode | undefined): PermissionMode {
  return b !== undefined && WIDTH[b] > WIDTH[a] ? b : a
}
