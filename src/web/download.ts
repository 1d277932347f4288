import { parseJson, string } from '#base'

/** Formats that a session can be kept in. */
export type ExportName = 'jsonl' | 'md' | 'html'

/** Asks the daemon for a session as a file. */
export type FetchExport = (sessionId: string, format: ExportName) => Promise<Blob>

/**
 * Saves a session as a file, through the browser. What the daemon refuses is thrown; where the file goes is the
 * browser's business.
 */
export async function downloadExport(
  fetchExport: FetchExport,
  session: { readonly id: string },
  format: ExportName,
): Promise<void> {
  const blob = await fetchExport(session.id, format)
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = `${session.id}.${format}`
  document.body.append(link)
  link.click()
  link.remove()
  // Some browsers begin to read only after the click is over.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** The daemon wants to know who asks, so a plain link would not do. */
export function createExportFetcher(origin: string, token: string): FetchExport {
  return async (sessionId, format) => {
    const address = `${origin}/api/sessions/${encodeURIComponent(sessionId)}/export?format=${format}`
    const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } })
    if (response.ok) return await response.blob()
    const told = parseJson(await response.text())
    throw new Error(string(told, 'message') ?? `the daemon answered with status ${response.status}`)
  }
}
