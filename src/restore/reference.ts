/** How something that was shortened or summarised is read in full, for a model that has the tools of Throughline. */
export function toReference(sessionId: string, entry: string): string {
  const id = JSON.stringify(sessionId)
  return `tool read_entries with session ${id}, entry ${entry === 'as given' ? entry : JSON.stringify(entry)}, whole "turn"`
}
