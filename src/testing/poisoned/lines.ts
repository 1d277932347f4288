import type { LineMaker } from '../claude-lines.ts'

/** How a mended copy may differ from its session: lines added, left out or moved, and blocks changed. */
export interface Difference {
  readonly added?: number
  readonly gone?: number
  readonly moved?: true
  readonly blocks?: number
}

/** What broke a session of somebody else. */
export interface Poison {
  readonly id: string
  readonly what: string
  readonly lines: (make: LineMaker) => readonly object[]
  readonly kinds: readonly string[]
  readonly difference: Difference
  /** Nobody but the provider can tell by looking at the request. */
  readonly isUnseen?: true
  /** Claude Code puts it right in its request itself: only other programs fail with it. */
  readonly isHandled?: true
}

export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** A picture that says of itself that it is so large. */
export function pngOf(width: number, height: number): string {
  const bytes = Buffer.from(PNG, 'base64')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes.toString('base64')
}

export const call = (id: string, input: object = { command: 'ls' }): object => ({
  type: 'tool_use',
  id,
  name: 'Bash',
  input,
})
export const image = (data: string, media_type = 'image/png'): object => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
})
export const text = (words: string): object => ({ type: 'text', text: words })
const asked = (make: LineMaker, ...content: readonly object[]): object =>
  make.prompt('', { message: { role: 'user', content } })

/** A session with this said by a user, and answered. */
export const said =
  (...content: readonly object[]) =>
  (make: LineMaker): readonly object[] => [asked(make, text('look'), ...content), make.reply([text('so')])]
/** A session with this given by a tool. */
export const given =
  (content: unknown) =>
  (make: LineMaker): readonly object[] => [
    make.prompt('go'),
    make.reply([call('toolu_1')]),
    make.result('toolu_1', content),
    make.reply([text('so')]),
  ]
/** A session with this answered. */
export const answered =
  (...content: readonly object[]) =>
  (make: LineMaker): readonly object[] => [make.prompt('go'), make.reply(content), make.prompt('and then?')]
