import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MediaSource } from '#model'
import { runs } from '#testing'
import { decodeText, readImage } from './image-bytes.ts'

function source(bytes: readonly number[], mediaType = 'image/png'): MediaSource {
  return { kind: 'base64', mediaType, data: btoa(String.fromCharCode(...bytes)) }
}

const ascii = (text: string): readonly number[] => Array.from(text, (char) => char.charCodeAt(0))
const PNG = [0x89, ...ascii('PNG\r\n\u001a\n'), 0, 0, 0, 13, ...ascii('IHDR'), 0, 0, 2, 0, 0, 0, 1, 0, 8, 6]
const JPEG = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 17, 8, 0, 50, 0, 100, 3, 1, 0x22]

test('[WEB29] what an image is, and how large, is read from its bytes', () => {
  expect(readImage(source(PNG, 'text/html'))).toEqual({ type: 'image/png', width: 512, height: 256 })
  expect(readImage(source(JPEG))).toEqual({ type: 'image/jpeg', width: 100, height: 50 })
  expect(readImage(source([...ascii('GIF89a'), 3, 0, 4, 0]))).toEqual({
    type: 'image/gif',
    width: 3,
    height: 4,
  })
  expect(readImage(source([...ascii('RIFF....WEBPVP8 ')]))).toEqual({ type: 'image/webp' })
  expect(readImage(source([0, 0, 0, 32, ...ascii('ftypavif')]))).toEqual({ type: 'image/avif' })
})

test('[WEB29] SVG, HTML and anything else is never shown as an image, whatever it says it is', () => {
  for (const text of [
    '<svg onload="alert(1)"/>',
    '<?xml version="1.0"?><svg/>',
    '<html>',
    'RIFF....WAVE',
    '%PDF-1.4',
  ]) {
    expect(readImage(source(ascii(text), 'image/png'))).toBeUndefined()
  }
  expect(readImage({ kind: 'base64', mediaType: 'image/png', data: 'no base64!' })).toBeUndefined()
  expect(readImage({ kind: 'url', url: 'https://example.org/x.png' })).toBeUndefined()
})

test('[WEB29] torn and made-up images never throw', () => {
  const bytes = fc.tuple(
    fc.constantFrom([], PNG, JPEG, ascii('GIF89a'), ascii('RIFF....WEBPVP8X')),
    fc.nat(40),
    fc.uint8Array({ maxLength: 60 }),
  )
  fc.assert(
    fc.property(bytes, ([head, cut, rest]) => {
      const found = readImage(source([...head.slice(0, cut), ...rest]))
      expect(found?.type ?? 'image/png').toMatch(/^image\/(?:png|jpeg|gif|webp|avif)$/)
    }),
    runs(300),
  )
  fc.assert(
    fc.property(fc.string(), (data) => {
      readImage({ kind: 'base64', mediaType: 'image/png', data })
      decodeText(data)
    }),
    runs(200),
  )
})
