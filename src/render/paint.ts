/** What a stretch of text is, for the eye. */
export type Style =
  | 'strong'
  | 'emphasis'
  | 'dim'
  | 'code'
  | 'heading'
  | 'person'
  | 'tool'
  | 'added'
  | 'removed'
  | 'warning'
  | 'error'
  | 'live'

/** Puts text in a style, or leaves it as it is where there are no colours. */
export type Paint = (style: Style, text: string) => string

/** Sixteen-colour codes only: they follow the person's own theme, light or dark. */
const CODES: Record<Style, readonly [on: string, off: string]> = {
  strong: ['1', '22'],
  emphasis: ['3', '23'],
  dim: ['2', '22'],
  code: ['36', '39'],
  heading: ['1;4', '22;24'],
  person: ['1;34', '22;39'],
  tool: ['35', '39'],
  added: ['32', '39'],
  removed: ['31', '39'],
  warning: ['33', '39'],
  error: ['1;31', '22;39'],
  live: ['32', '39'],
}

/** Colours for a terminal, or none. The text must have gone through `safeText` before. */
export function createPaint(options: { readonly colour: boolean }): Paint {
  if (!options.colour) return (_style, text) => text
  return (style, text) => {
    if (text === '') return ''
    const [on, off] = CODES[style]
    return `\u001b[${on}m${text}\u001b[${off}m`
  }
}
