import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { safeLine } from '#render'
import type { DeltaFact } from '#model'
import { Icon } from '../icon.tsx'
import { createToldStream } from '../memory/told-stream.ts'
import { SignView } from '../memory/told-text.tsx'
import { Markdown, type Signs } from '../message/markdown.tsx'
import { createChunks } from './stream-chunks.ts'

const NO_MARKS: readonly string[] = []
/** How much of a thought or a call is shown while it is being written. */
const PREVIEW = 160

/** What the agent is saying right now, as it will look when it is said. */
export function StreamView({ pieces }: { pieces: readonly DeltaFact[] }): VNode | null {
  if (pieces.length === 0) return null
  return (
    <article class="passage passage-reply streaming" aria-label="Being written" aria-busy="true">
      <div class="passage-body">
        <div class="reply">
          {pieces.map((piece) => (
            <Piece key={`${piece.messageId} ${piece.block} ${piece.what}`} piece={piece} />
          ))}
        </div>
      </div>
    </article>
  )
}

function Piece({ piece }: { piece: DeltaFact }): VNode {
  switch (piece.what) {
    case 'text':
      return <StreamedText text={piece.text} />
    case 'thinking':
      return (
        <p class="stream-line">
          <span class="call-tool">Thinking</span>
          <span class="call-detail">{safeLine(piece.text.slice(-PREVIEW))}</span>
        </p>
      )
    case 'input':
      return (
        <p class="stream-line">
          <Icon name="more" />
          <span class="call-tool">Preparing a call</span>
          <span class="call-detail">{safeLine(piece.text.slice(-PREVIEW))}</span>
        </p>
      )
  }
}

/** Whole blocks are made once; only the last one is made again when something is added to it. */
function StreamedText({ text }: { text: string }): VNode {
  const toChunks = useMemo(createChunks, [])
  const toTold = useMemo(createToldStream, [])
  const told = toTold(text)
  const { done, open } = toChunks(told.text)
  const signs = useMemo(
    () =>
      new Map(
        [...told.signs].map(([character, sign]) => [
          character,
          <SignView sign={sign} place={undefined} text={text} />,
        ]),
      ),
    [told.signs],
  )
  return (
    <div class="stream-text">
      {done.map((chunk, at) => (
        <Chunk key={at} text={chunk} signs={signs} />
      ))}
      {open.trim() === '' ? null : <Markdown text={open} marks={NO_MARKS} signs={signs} />}
    </div>
  )
}

function Chunk({ text, signs }: { text: string; signs: Signs }): VNode {
  return useMemo(() => <Markdown text={text} marks={NO_MARKS} signs={signs} />, [text, signs])
}
