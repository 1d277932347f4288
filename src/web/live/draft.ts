/** Words that were not sent yet, kept in this browser for each session. */
export interface Draft {
  read(): string
  write(text: string): void
}

export function openDraft(
  sessionId: string,
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>,
): Draft {
  const key = `throughline.draft.${sessionId}`
  return {
    read: () => storage.getItem(key) ?? '',
    write(text) {
      try {
        if (text.trim() === '') storage.removeItem(key)
        else storage.setItem(key, text)
      } catch {
        // A browser that is full keeps no drafts; what is typed is still on screen.
      }
    },
  }
}
