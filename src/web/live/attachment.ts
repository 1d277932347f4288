import type { Block } from '#model'
import { toSize } from '#render'
import { readImage } from '../message/image-bytes.ts'

/** Something that goes with a prompt. */
export interface Attachment {
  readonly id: string
  readonly name: string
  readonly block: Block
  /** Of a picture: its bytes, for an element to show. */
  readonly picture?: Blob | undefined
  readonly size: number
}

/** The bytes of a file, as a browser gives them. */
export interface GivenFile {
  readonly name: string
  readonly type: string
  readonly size: number
  arrayBuffer(): Promise<ArrayBuffer>
}

const MB = 1024 * 1024

/** What may be attached at most, in bytes: one picture, one text, everything together. */
export const LARGEST: Readonly<Record<'picture' | 'text' | 'all', number>> = {
  picture: 5 * MB,
  text: MB / 2,
  all: 12 * MB,
}

/**
 * Reads a file into a part of a prompt: pictures and PDFs as what they are, text as a document. Gives a sentence that
 * says why, where it cannot be.
 */
export async function readAttachment(
  file: GivenFile,
  options: { readonly id: string; readonly images: boolean },
): Promise<Attachment | string> {
  const name = file.name === '' ? 'pasted' : file.name
  if (file.size > LARGEST.picture)
    return `${name} is ${toSize(file.size)}. What is attached may be ${toSize(LARGEST.picture)} at most.`
  const bytes = new Uint8Array(await file.arrayBuffer())
  const data = toBase64(bytes)
  const image = readImage({ kind: 'base64', mediaType: file.type, data })
  const known = { id: options.id, name, size: file.size }
  if (image !== undefined) {
    if (!options.images) return `${name} is a picture, and this agent takes none.`
    const block: Block = { kind: 'image', source: { kind: 'base64', mediaType: image.type, data } }
    return { ...known, block, picture: new Blob([bytes], { type: image.type }) }
  }
  if (isPdf(bytes)) {
    const source = { kind: 'base64', mediaType: 'application/pdf', data } as const
    return { ...known, block: { kind: 'document', title: name, source } }
  }
  const text = decode(bytes)
  if (text === undefined) return `${name} is neither a picture nor text, and the agent could not read it.`
  if (file.size > LARGEST.text)
    return `${name} is ${toSize(file.size)}. Text may be ${toSize(LARGEST.text)} at most: name its path instead.`
  const source = { kind: 'text', mediaType: 'text/plain', text } as const
  return { ...known, block: { kind: 'document', title: name, source } }
}

/** Whether all of it is still small enough to send, in words where it is not. */
export function checkTotal(attachments: readonly Attachment[]): string | undefined {
  const size = attachments.reduce((sum, one) => sum + one.size, 0)
  return size > LARGEST.all
    ? `All attachments together are ${toSize(size)}; ${toSize(LARGEST.all)} can be sent at once.`
    : undefined
}

function isPdf(bytes: Uint8Array): boolean {
  return [0x25, 0x50, 0x44, 0x46, 0x2d].every((byte, at) => bytes[at] === byte)
}

function decode(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const STEP = 0x8000

function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += STEP)
    text += String.fromCharCode(...bytes.subarray(at, at + STEP))
  return btoa(text)
}
