import * as fc from 'fast-check'

/**
 * Markdown as agents write it, and broken as they break it: paragraphs, lists, quotes, code, tables with more cells
 * than heads and with fewer, links, HTML, footnotes. Its words are told from each other: `w0` to `w99`.
 */
export function anyMarkdown(): fc.Arbitrary<string> {
  const cut = fc.tuple(
    anyBlocks(2),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(...BREAKERS)), { maxLength: 3 }),
  )
  return cut.map(([text, breaks]) => {
    let broken = text
    for (const [place, piece] of breaks) {
      const at = place % (broken.length + 1)
      // Between two words, so that a word stays one.
      const space = broken.indexOf(' ', at)
      if (space >= 0) broken = `${broken.slice(0, space)} ${piece}${broken.slice(space)}`
    }
    return numberWords(broken)
  })
}

/** The words of a text: what has to be found again in whatever is made of it. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/w\d+w/g) ?? []
}

const WORD = 'WORD'
const BREAKERS = [
  '|',
  '`',
  '``',
  '**',
  '\n',
  '\n\n',
  '> ',
  '- ',
  '[',
  '](',
  '\\',
  '<',
  '```',
  '~~~\n',
  '# ',
  '| | |',
]

/** Every word is another one, so that none can stand for one that was lost. */
function numberWords(text: string): string {
  let next = 0
  return text.replaceAll(WORD, () => `w${next++}w`)
}

function anyInline(): fc.Arbitrary<string> {
  const piece = fc.constantFrom(
    WORD,
    `${WORD} ${WORD}`,
    `**${WORD}**`,
    `*${WORD} ${WORD}*`,
    `~~${WORD}~~`,
    `\`${WORD}\``,
    `\`${WORD} | ${WORD}\``,
    `\`\\|\\| ${WORD}\``,
    `\`\`${WORD} \` ${WORD}\`\``,
    `[${WORD}](https://example.org/${WORD})`,
    `[${WORD}](./${WORD}.md "${WORD}")`,
    `![${WORD}](https://example.org/${WORD}.png)`,
    `<b>${WORD}</b>`,
    `<!-- ${WORD} -->`,
    `https://example.org/${WORD}?a=1|${WORD}`,
    `[^${WORD}]`,
    `[${WORD}][${WORD}]`,
    `${WORD} \\| ${WORD}`,
    `\\*${WORD}\\*`,
    `${WORD}_${WORD}`,
    `&amp; ${WORD}`,
  )
  return fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(' '))
}

function anyTable(): fc.Arbitrary<string> {
  const row = fc.array(anyInline(), { minLength: 1, maxLength: 5 })
  const edges = fc.constantFrom(['| ', ' |'], ['|', '|'], ['', ''], ['| ', ''])
  return fc
    .tuple(row, fc.array(row, { maxLength: 4 }), edges)
    .map(([head, rows, [left = '', right = '']]) => {
      const rule = head.map(() => '---')
      return [head, rule, ...rows].map((cells) => `${left}${cells.join(' | ')}${right}`).join('\n')
    })
}

function anyLeaf(): fc.Arbitrary<string> {
  const lines = fc.array(anyInline(), { minLength: 1, maxLength: 3 }).map((each) => each.join('\n'))
  return fc.oneof(
    lines,
    anyTable(),
    fc.tuple(fc.constantFrom('#', '##', '######'), anyInline()).map(([mark, text]) => `${mark} ${text}`),
    fc
      .tuple(fc.constantFrom('', 'ts', `ts title="${WORD}"`, WORD, `{.${WORD} #${WORD}}`), lines)
      .map(([info, text]) => `\`\`\`${info}\n${text}\n\`\`\``),
    lines.map((text) => `~~~\n${text}`),
    anyInline().map((text) => `[^1]: ${text}`),
    anyInline().map((text) => `[${WORD}]: https://example.org/${WORD} ${text}`),
    anyInline().map((text) => `<details><summary>${text}</summary>\n\n${text}\n\n</details>`),
    anyInline().map((text) => `    ${text}`),
    fc.constant('---'),
  )
}

function anyBlocks(depth: number): fc.Arbitrary<string> {
  const inner = depth === 0 ? anyLeaf() : anyBlocks(depth - 1)
  const item = fc.tuple(fc.constantFrom('- ', '* ', '1. ', '7. ', '3) ', '- [x] ', '- [ ] '), inner)
  const list = fc
    .array(item, { minLength: 1, maxLength: 3 })
    .map((items) =>
      items
        .map(([mark, text]) => `${mark}${text.replaceAll('\n', `\n${' '.repeat(mark.length)}`)}`)
        .join('\n'),
    )
  const quote = inner.map((text) => `> ${text.replaceAll('\n', '\n> ')}`)
  const block = depth === 0 ? anyLeaf() : fc.oneof({ weight: 3, arbitrary: anyLeaf() }, list, quote)
  return fc
    .tuple(fc.array(block, { minLength: 1, maxLength: 4 }), fc.constantFrom('\n', '\n\n'))
    .map(([blocks, gap]) => blocks.join(gap))
}
