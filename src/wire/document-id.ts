/** So many characters may an id of a document have. */
export const LONGEST_DOCUMENT_ID = 200

/** Whether a text can be the id of a document. */
export function isDocumentId(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return text !== '' && text.length <= LONGEST_DOCUMENT_ID && !/[\u0000-\u001f\u007f-\u009f]/.test(text)
}
