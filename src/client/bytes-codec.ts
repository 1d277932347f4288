import type { BytesCodec } from '#wire'

/** Bytes as text and back with what browsers and Node both have. */
export function createBytesCodec(): BytesCodec {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const encoder = new TextEncoder()
  return {
    toWire(bytes) {
      try {
        return decoder.decode(bytes)
      } catch {
        let binary = ''
        for (const byte of bytes) binary += String.fromCharCode(byte)
        return { base64: btoa(binary) }
      }
    },
    fromWire(bytes) {
      if (typeof bytes === 'string') return encoder.encode(bytes)
      return Uint8Array.from(atob(bytes.base64), (char) => char.charCodeAt(0))
    },
  }
}
