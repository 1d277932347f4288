/**
 * Puts text where the next paste takes it from. A page that did not come over TLS or from this machine has no
 * clipboard of its own, and a browser may refuse it: then the older way is tried. Rejects when neither is allowed.
 */
export async function copyText(text: string): Promise<void> {
  const clipboard: Clipboard | undefined = globalThis.isSecureContext ? navigator.clipboard : undefined
  if (clipboard !== undefined) {
    const isWritten = await clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    if (isWritten) return
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
