/** A word as a shell reads it: as one, whatever is in it. */
export function toShellWord(text: string): string {
  return /^[\w.:@%+,/=-]+$/u.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** A command as it is typed, in the folder in which it is to run. */
export function toShellLine(command: readonly string[], workdir: string): string {
  return `(cd ${toShellWord(workdir)} && ${command.map(toShellWord).join(' ')})`
}
