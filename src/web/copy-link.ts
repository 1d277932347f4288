import { copyText } from './clipboard.ts'

/** Copies text and says so. */
export async function copyAndSay(text: string, what: string, say: (words: string) => void): Promise<void> {
  await copyText(text).then(
    () => say(`${what} copied`),
    () => say('The browser did not allow copying.'),
  )
}

/** Copies a link and says so. What the browser does not let one copy is gone to: then it stands in the address bar. */
export async function copyLink(hash: string, say: (words: string) => void, leave: () => void): Promise<void> {
  try {
    await copyText(new URL(hash, location.href).href)
    say(isLocal() ? 'Link copied. It works on this machine.' : 'Link copied')
  } catch {
    leave()
    say('The browser did not allow copying. The link is in the address bar.')
  }
}

/** Whether the address leads here from this machine alone. */
function isLocal(): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)
}
