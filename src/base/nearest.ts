/** The name that was probably meant, or `undefined` when none is near. */
export function findNearest(word: string, names: readonly string[]): string | undefined {
  const typed = word.slice(0, 40).toLowerCase()
  let best: string | undefined
  let least = Math.max(1, Math.floor(typed.length / 3)) + 1
  for (const name of names) {
    const distance = typed.length > 1 && name.startsWith(typed) ? 1 : distanceOf(typed, name)
    if (distance < least) {
      least = distance
      best = name
    }
  }
  return best
}

/** How many letters must be added, removed, changed, or swapped with the next one. */
function distanceOf(a: string, b: string): number {
  let before: readonly number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a.charAt(i - 1) === b.charAt(j - 1) ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwapped ? (before[j - 2] ?? 0) + 1 : change
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
