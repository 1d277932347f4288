/**
 * Knows whether a place in a reply is somebody else's words by what stands before it: inside an HTML comment or an
 * element that shows text as it is, in a table, or between quotation marks. It only looks back, so a text that comes
 * in pieces gives what it gives as a whole.
 */
export interface Quoting {
  /** Text that is shown and is neither code nor a directive. */
  see(text: string): void
  /** Something that says nothing about quotation: code, or a line that is shown as it is. */
  skip(text: string): void
  /** The rest of the line is a broken directive: its quotation marks are JSON. */
  skipMarks(): void
  isQuoted(): boolean
}

/** Elements whose text is shown as it is, or belongs to somebody else. */
const ELEMENT = /<(pre|code|samp|kbd|blockquote|q|script|style|template|textarea)[\s>]$/i
const LONGEST_TAG = 14

export function createQuoting(): Quoting {
  /** The last characters, and whether they are in a line of a table. */
  let recent = ''
  let isTable = false
  let isLineEmpty = true
  /** What ends the HTML that is open. */
  let htmlEnd: string | undefined
  /** The quotation mark that closes the one that is open. */
  let mark: string | undefined
  let ignoresMarks = false

  function newLine(): void {
    isTable = false
    ignoresMarks = false
    // A quotation goes on over lines, and ends with its paragraph.
    if (isLineEmpty) mark = undefined
    isLineEmpty = true
  }

  function seeMark(char: string, before: string): void {
    if (char === mark) mark = undefined
    else if (mark === undefined && !ignoresMarks) {
      // What follows a letter or a digit closes, or says inches.
      if (char === '"') mark = /[\p{L}\p{N}.,;!?)\]}]/u.test(before) ? undefined : '"'
      else mark = CLOSING[char]
    }
  }

  function seeHtml(): void {
    if (htmlEnd !== undefined) {
      if (recent.toLowerCase().endsWith(htmlEnd)) htmlEnd = undefined
      return
    }
    if (recent.endsWith('<!--')) htmlEnd = '-->'
    else if (/[\s>]$/.test(recent)) {
      const element = ELEMENT.exec(recent)?.[1]
      if (element !== undefined) htmlEnd = `</${element.toLowerCase()}`
    }
  }

  function seeChar(char: string): void {
    const before = recent.at(-1) ?? ''
    recent = `${recent}${char}`.slice(-LONGEST_TAG)
    if (char === '\n') newLine()
    else {
      if (char === '|') isTable = true
      if (!/\s/.test(char)) isLineEmpty = false
      if (MARKS.has(char)) seeMark(char, before)
    }
    seeHtml()
  }

  return {
    see(text) {
      for (const char of text) seeChar(char)
    },
    skip(text) {
      if (text.trim() !== '') isLineEmpty = false
      if (text.includes('\n')) {
        isLineEmpty = false
        newLine()
      }
      recent = text.slice(-1)
    },
    skipMarks() {
      ignoresMarks = true
    },
    isQuoted: () => htmlEnd !== undefined || mark !== undefined || isTable || /['‘]$/.test(recent),
  }
}

const CLOSING: Readonly<Record<string, string>> = {
  '“': '”',
  '„': '“',
  '«': '»',
  '‹': '›',
  '「': '」',
  '『': '』',
}
const MARKS: ReadonlySet<string> = new Set(['"', ...Object.keys(CLOSING), ...Object.values(CLOSING)])
