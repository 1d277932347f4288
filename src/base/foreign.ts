/**
 * Reading data that somebody else wrote. Ask for what you use, get `undefined` when it is not what you asked for;
 * nothing here throws and nothing is cast.
 */

/** An object of JSON whose fields nobody has checked. */
export type JsonObject = { readonly [key: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Inherited fields are nobody's data: ask only for names that `Object.prototype` does not have. */
export function field(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined
}

export function string(value: unknown, key: string): string | undefined {
  const found = field(value, key)
  return typeof found === 'string' ? found : undefined
}

export function number(value: unknown, key: string): number | undefined {
  const found = field(value, key)
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}

export function boolean(value: unknown, key: string): boolean | undefined {
  const found = field(value, key)
  return typeof found === 'boolean' ? found : undefined
}

export function list(value: unknown, key: string): readonly unknown[] {
  const found = field(value, key)
  return Array.isArray(found) ? found : []
}

export function object(value: unknown, key: string): JsonObject | undefined {
  const found = field(value, key)
  return isObject(found) ? found : undefined
}

/** The value of a JSON text, or `undefined` when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
