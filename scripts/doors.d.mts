/** One name behind a street door. */
export interface DoorName {
  readonly name: string
  readonly kind: 'value' | 'type'
  /** Its signature, on one line; of a type only the name. */
  readonly shape: string
  /** The first sentence of its doc comment; empty when it has none. */
  readonly says: string
}

/** A subpath of the package, as package.json `exports` has it. */
export interface Door {
  readonly specifier: string
  readonly room: string
  readonly names: readonly DoorName[]
}

export function readDoors(): readonly Door[]
