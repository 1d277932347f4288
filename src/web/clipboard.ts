/**
 * Puts text where the next paste takes it from. A page that did not come over TLS or from this machine has no
 * clipboard of its own; there the older way is tried. Rejects when the browser allows neither.
 */
export async function copyText(text: string): Promise<void> {
  const clipboard: Clipboard | undefined = globalThis.isSecureContext ? navigator.clipboard : undefined
  if (clipboard !== undefined) {
    await clipboard.writeText(text)
    return
  }
  const field = document.createElement('textarea')
  field.value = text
  field.readOnly = true
  field.style.position = 'fixed'
  field.style.opacity = '0'
  const before = document.activeElement
  ;(document.querySelector('dialog[open]') ?? document.body).append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  if (!isCopied) throw new Error('the browser did not allow copying')
}
