import { isObject } from '#base'

/**
 * A copy of a value as JSON, as it is now. Bytes, in whichever form JavaScript has them, become base64; a source of raw
 * bytes is one of base64 then. Throws on what JSON has no form for.
 */
export function toPlainCopy(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, function (this: unknown, key: string, plain: unknown): unknown {
      // `Buffer` and others have made something else of themselves when a replacer is asked.
      const given = isObject(this) || Array.isArray(this) ? Reflect.get(this, key) : plain
      const bytes = findBytes(given)
      if (bytes !== undefined) return bytes.toString('base64')
      if (!isObject(plain) || plain['type'] !== 'raw' || findBytes(plain['data']) === undefined) return plain
      return { ...plain, type: 'base64' }
    }),
  )
}

function findBytes(value: unknown): Buffer | undefined {
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return Buffer.from(value)
  return undefined
}
