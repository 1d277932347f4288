import type { Question } from '#model'

/** What was chosen for one question so far. */
export interface Choice {
  readonly labels: readonly string[]
  /** Words of one's own. */
  readonly free: string
}

/** One answer per question, in their order, or `undefined` while one of them has none. Options keep their own order. */
export function toAnswers(
  questions: readonly Question[],
  choices: readonly Choice[],
): readonly (readonly string[])[] | undefined {
  const answers = questions.map((question, at) => {
    const { labels, free } = choices[at] ?? { labels: [], free: '' }
    const said = question.free ? free.trim() : ''
    const chosen = question.options.map(({ label }) => label).filter((label) => labels.includes(label))
    const all = said === '' ? chosen : [...chosen, said]
    return question.multiple ? all : all.slice(-1)
  })
  return answers.every((answer) => answer.length > 0) ? answers : undefined
}
