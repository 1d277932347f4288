import { shorten } from '#base'

const LONGEST = 240
const MOST = 3

/** Words with which somebody says what was chosen, found out or ruled out. */
const CUES =
  /\b(?:decid\w+|decision|instead of|rather than|chos\w+|choos\w+|opted|settled on|go(?:ing)? with|root cause|the cause (?:is|was)|turn(?:s|ed) out|the reason (?:is|was)|because|so that|must not|never|trade-?off|ruled out|does not work|doesn't work|won't work|workaround|agreed)\b/iu

/** Sentences in which something is decided or explained, the last ones: they are the ones that hold. */
export function toDecisions(texts: readonly string[]): readonly string[] {
  const found = texts.flatMap((text) => sentencesOf(text).filter((sentence) => CUES.test(sentence)))
  return [...new Set(found)].slice(-MOST).map((sentence) => shorten(sentence, LONGEST))
}

/** The sentences of a text without its code, which says nothing of why. */
function sentencesOf(text: string): readonly string[] {
  return (
    text
      .replaceAll(/```[\s\S]*?(?:```|$)/gu, ' ')
      .split(/(?<=[.!?])\s+|\n+/u)
      .map((sentence) => sentence.replace(/^[\s#>*-]+/u, '').trim())
      // Rows of tables, and what only leads to something else.
      .filter((sentence) => sentence.length > 20 && !/[|:]$/u.test(sentence) && !sentence.startsWith('|'))
  )
}
