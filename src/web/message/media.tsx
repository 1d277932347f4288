import type { VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { DocumentBlock, ImageBlock } from '#model'
import { safeHref, safeText } from '#render'
import { Icon } from '../icon.tsx'
import { describeThing } from './block-words.ts'
import { CodeBlock } from './code-block.tsx'
import { Fold } from './fold.tsx'
import { decodeBase64, decodeText, readImage, type ReadableImage } from './image-bytes.ts'
import { Link } from './markdown.tsx'
import { toMarked } from './marks.tsx'
import { TerminalOutput } from './lazy-output.ts'

/** An image out of a session. One that is somewhere else is named, never loaded. */
export function ImageView({ image, marks }: { image: ImageBlock; marks: readonly string[] }): VNode {
  const readable = useMemo(() => readImage(image.source), [image])
  const { source } = image
  if (readable !== undefined && source.kind === 'base64')
    return <Picture data={source.data} image={readable} words={describeThing(image)} />
  if (source.kind === 'base64' && /svg|xml/i.test(source.mediaType)) {
    return (
      <Fold of={image} class="fold-quiet" summary={`${describeThing(image)}, shown as text`}>
        {() => <CodeBlock text={decodeText(source.data) ?? ''} language="xml" marks={marks} />}
      </Fold>
    )
  }
  if (source.kind === 'url') return <Elsewhere what="Image" address={source.url} marks={marks} />
  return <p class="thing">{toMarked(describeThing(image), marks)}</p>
}

/** A document: its text, folded; or the file, to be downloaded. */
export function DocumentView({
  document,
  marks,
}: {
  document: DocumentBlock
  marks: readonly string[]
}): VNode {
  const { source } = document
  const what = describeThing(document)
  switch (source.kind) {
    case 'text':
      return (
        <Fold of={document} class="fold-quiet" summary={toMarked(what, marks)}>
          {() => <TerminalOutput of={source} text={source.text} marks={marks} what="document" />}
        </Fold>
      )
    case 'base64':
      // `%PDF`: what the bytes are is read from the bytes.
      return source.data.startsWith('JVBERi') ? (
        <p class="thing">
          {toMarked(what, marks)}
          <button type="button" class="button" onClick={() => download(source.data, document.title)}>
            <Icon name="download" />
            Download
          </button>
        </p>
      ) : (
        <p class="thing">{toMarked(what, marks)}</p>
      )
    case 'url':
      return <Elsewhere what="Document" address={source.url} marks={marks} />
    case 'unknown':
      return <p class="thing">{toMarked(what, marks)}</p>
  }
}

function Elsewhere(props: { what: string; address: string; marks: readonly string[] }): VNode {
  const href = safeHref(props.address)
  const shown = toMarked(props.address.slice(0, 300), props.marks)
  return (
    <p class="thing">
      {props.what} at {href === undefined ? shown : <Link href={href}>{shown}</Link>}, not loaded
    </p>
  )
}

function Picture({ data, image, words }: { data: string; image: ReadableImage; words: string }): VNode {
  const [address, setAddress] = useState<string>()
  const [large, setLarge] = useState(false)
  const { type, width, height } = image
  useEffect(() => {
    const bytes = decodeBase64(data)
    if (bytes === undefined) return undefined
    const made = URL.createObjectURL(new Blob([bytes], { type }))
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [data, type])
  return (
    <button
      type="button"
      class={large ? 'picture picture-large' : 'picture'}
      aria-pressed={large}
      title={large ? 'Show smaller' : 'Show larger'}
      onClick={() => setLarge(!large)}
    >
      {/* Its size is known before it is decoded, so that nothing below it moves. */}
      <img
        alt={words}
        decoding="async"
        {...(address === undefined ? {} : { src: address })}
        {...(width === undefined || height === undefined ? {} : { width, height })}
      />
    </button>
  )
}

function download(data: string, title: string | undefined): void {
  const bytes = decodeBase64(data)
  if (bytes === undefined) return
  const address = URL.createObjectURL(new Blob([bytes], { type: 'application/pdf' }))
  const link = document.createElement('a')
  link.href = address
  link.download = `${fileName(title)}.pdf`
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

function fileName(title: string | undefined): string {
  const name = safeText(title ?? '')
    .replace(/\.pdf$/i, '')
    .replace(/[^\p{L}\p{N} ._-]/gu, '')
    .replace(/^[. ]+/, '')
    .trim()
  return name === '' ? 'document' : name.slice(0, 80)
}
