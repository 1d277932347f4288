export { cutToWidth, displayWidth, fitToWidth } from './display-width.ts'
export { isPlanAsk, textsOfAsk, textsOfSettings, toAskParts } from './ask-parts.ts'
export type { AskPart } from './ask-parts.ts'
export { findPlan, ranInput, toJson } from './call-input.ts'
export { toCallParts, withoutPrompt } from './call-parts.ts'
export type { CallPart } from './call-parts.ts'
export { exactLine, exactText, splitExact, warnOfHidden } from './exact-text.ts'
export type { ExactPart } from './exact-text.ts'
export {
  toCount,
  toDamageLine,
  toDate,
  toPlural,
  toShortCount,
  toSize,
  toTokens,
  toTokenWords,
} from './figures.ts'
export { toHtml } from './html.ts'
export { safeHref } from './inline.ts'
export type { Inline } from './inline.ts'
export { countDiff, toLineDiff } from '#model'
export type { DiffLine } from '#model'
export { parseMarkdown } from './markdown-tree.ts'
export type { MarkdownBlock } from './markdown-tree.ts'
export { toMarkdown } from './markdown.ts'
export { createPaint } from './paint.ts'
export type { Paint, Style } from './paint.ts'
export { safeLine, safeText } from './safe-text.ts'
export { toTerminal } from './terminal.ts'
export type { TerminalOptions } from './terminal.ts'
export { toolLine, toToolLine } from './tool-line.ts'
export type { ToolLine } from './tool-line.ts'
export { agentName, describeBlock } from './transcript.ts'
export type { Transcript } from './transcript.ts'
export { wrapText } from './wrap.ts'
export { toShellLine, toShellWord } from './shell-line.ts'
