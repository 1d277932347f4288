import type { Value } from './connection.ts'

/** Builds a statement: `bind` gives the name of a value in it. */
export interface Statement {
  readonly values: readonly Value[]
  readonly bind: (value: Value) => string
}

export function createStatement(): Statement {
  const values: Value[] = []
  return {
    values,
    bind(value) {
      values.push(value)
      return `$${values.length}`
    },
  }
}
