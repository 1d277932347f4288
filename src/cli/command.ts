/** What a command is, as data: the parser, the help and the reference are made from it. */
export interface CommandSpec {
  readonly name: string
  /** One line, beginning with a verb. */
  readonly summary: string
  /** A paragraph or two for `--help` and the reference. */
  readonly description: string
  readonly args: readonly ArgSpec[]
  readonly options: readonly OptionSpec[]
  readonly examples: readonly Example[]
  /** What the exit codes mean where they mean more than success and failure. */
  readonly exits?: readonly (readonly [code: number, meaning: string])[]
}

/** A word that is given by its position. */
export interface ArgSpec {
  readonly name: string
  readonly summary: string
  readonly required: boolean
  /** The only values it takes. */
  readonly values?: readonly string[]
  /** All further words belong to it, also those that begin with one dash. Only for the last one. */
  readonly many?: true
}

/** A word that is given by its name: `--name`, or `--name <value>`. */
export interface OptionSpec {
  readonly name: string
  readonly summary: string
  /** A placeholder for its value. Absent: the option is a flag. */
  readonly value?: string
  /** The only values it takes. */
  readonly values?: readonly string[]
  /** The value it has when it is given without one. */
  readonly bare?: string
}

/** A line to type, and what it does. */
export interface Example {
  readonly line: string
  readonly says: string
}

/** A setting that is read from the environment. */
export interface Variable {
  readonly name: string
  readonly summary: string
}
