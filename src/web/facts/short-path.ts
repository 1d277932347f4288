/** A path as people say it: from the folder the session worked in, where it is below one of them. */
export function toShortPath(path: string, workdirs: readonly string[]): string {
  const below = workdirs
    .map((workdir) => workdir.replace(/[/\\]+$/, ''))
    .filter(
      (workdir) => workdir !== '' && /^[/\\]/.test(path.slice(workdir.length)) && path.startsWith(workdir),
    )
    .toSorted((a, b) => b.length - a.length)[0]
  return below === undefined ? path : path.slice(below.length + 1)
}
