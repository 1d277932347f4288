import { openHighlightWorker } from '../trusted-worker.ts'
import { createHighlighter, type Highlighter } from './highlighter.ts'

/** The one that colours all code of the page. */
export const highlighter: Highlighter = createHighlighter(openHighlightWorker)
