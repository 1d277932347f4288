import { ThroughlineError } from '#base'
import type { Ask, PermissionAsk, QuestionAsk, Resolution } from '#model'

/**
 * Refuses (`request-invalid`) an answer that was not on offer: rules that nobody showed, an edited input for an agent
 * that takes none, options that are not there. Saying no is always on offer.
 */
export function checkAnswer(ask: Ask, resolution: Resolution): void {
  if (resolution.kind === 'deny') return
  if (ask.kind === 'permission') checkPermission(ask, resolution)
  else checkQuestions(ask, resolution)
}

function checkPermission(ask: PermissionAsk, resolution: Resolution): void {
  if (resolution.kind !== 'allow') throw notOnOffer('a permission is allowed or denied')
  const shown = new Set(ask.rules.map(({ id }) => id))
  const stray = resolution.rules.find((id) => !shown.has(id))
  if (stray !== undefined) throw notOnOffer(`there is no rule ${JSON.stringify(stray)} to choose`)
  if ('input' in resolution && !ask.canEdit) throw notOnOffer('this agent takes no other input')
}

function checkQuestions(ask: QuestionAsk, resolution: Resolution): void {
  if (resolution.kind !== 'answer') throw notOnOffer('a question is answered or denied')
  if (resolution.answers.length !== ask.questions.length) throw notOnOffer('every question has one answer')
  for (const [at, question] of ask.questions.entries()) {
    const given = resolution.answers[at] ?? []
    if (given.length > 1 && !question.multiple) throw notOnOffer('this question takes one answer')
    const labels = new Set(question.options.map(({ label }) => label))
    if (!question.free && given.some((words) => !labels.has(words))) {
      throw notOnOffer('this question takes only the answers it offers')
    }
  }
}

function notOnOffer(why: string): ThroughlineError {
  return new ThroughlineError('request-invalid', `this answer was not on offer: ${why}`, {
    hint: 'Look at what is asked again, and choose from what it offers.',
  })
}
