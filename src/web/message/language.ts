/** The word a grammar is known by: `ts` of `ts {1,3} title="a"`. Empty when the writer named none. */
export function toLanguage(info: string): string {
  const word = /^[a-z0-9+#._-]{1,32}/i.exec(info.trim())?.[0].toLowerCase() ?? ''
  return ['text', 'txt', 'plaintext', 'plain', 'none', 'output'].includes(word) ? '' : word
}
