import type { Effort } from '../secret.ts'
import { createSplice, type View } from './view.ts'

// oxlint-disable no-control-regex, no-misleading-character-class -- they are what is looked for
/** Most texts hold nothing that a terminal hides. */
const SUSPECT =
  /[\u0000-\u0008\u000b-\u000d\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u241b\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\udb40]|\^\[\[|\\(?:0?33|x1b|e)\[|&#(?:27|x1b);\[/i

/**
 * What a reader of a terminal, a page or an answer does not see: colours and other sequences, also where the escape
 * character is spelled out; what was struck over; characters without a shape. No part reads further than 2,048
 * characters, and none begins inside what another one has read in vain more than once.
 */
const HIDDEN = new RegExp(
  [
    // CSI: colours, cursor movements.
    /(?:[\u001b\u241b]\[|\u009b|(?:\^\[|\\(?:0?33|x1b|e)|&#(?:27|x1b);)\[)[0-?]{0,64}[ -/]{0,8}[@-~]/,
    // OSC, DCS, SOS, PM and APC with what stands in them: titles, addresses of links.
    /(?:[\u001b\u241b][\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f\u241b\n]{0,2048}(?:\u0007|[\u001b\u241b]\\|\u009c|(?:…|\.{3})?$)/,
    // Character sets.
    /\u001b[()*+#%][0-9A-Z]/,
    // Bold and underlined, as printers did it.
    /[^\n\u0008]\u0008/,
    /(?<line>\r\n?|[\u000b\u000c\u0085\u2028\u2029])/,
    /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|\udb40[\udc00-\udfff]/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gi',
)
// oxlint-enable no-control-regex, no-misleading-character-class

/** As it is read where nothing hidden stands between its characters; `undefined` when nothing does. */
export function toShown(source: View, effort: Effort): View | undefined {
  const { text } = source
  if (!SUSPECT.test(text)) return undefined
  effort.spend(text.length)
  const out = createSplice(source)
  let from = 0
  for (const match of text.matchAll(HIDDEN)) {
    effort.spend(8)
    out.copy(from, match.index)
    const length = match[0].length
    if (match.groups?.['line'] !== undefined) out.put({ text: '\n', length }, match.index)
    from = match.index + length
  }
  if (from === 0) return undefined
  out.copy(from, text.length)
  return out.view()
}
