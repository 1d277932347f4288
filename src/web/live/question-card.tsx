import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { Question, QuestionAsk } from '#model'
import { safeText } from '#render'
import type { Answering } from './attention-card.tsx'
import { toAnswers, type Choice } from './question-answers.ts'

/** Questions with their options, and room for words of one's own. */
export function QuestionCard({ ask, answering }: { ask: QuestionAsk; answering: Answering }): VNode {
  const choices = useSignal<readonly Choice[]>(ask.questions.map(() => ({ labels: [], free: '' })))
  const answers = toAnswers(ask.questions, choices.value)
  const change = (at: number, choice: Choice): void => {
    choices.value = choices.value.map((one, index) => (index === at ? choice : one))
  }
  return (
    <form
      class="attention-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (answers !== undefined) answering.answer({ kind: 'answer', answers })
      }}
    >
      <div class="questions">
        {ask.questions.map((question, at) => (
          <QuestionField
            key={at}
            name={`question-${at}`}
            question={question}
            choice={choices.value[at] ?? { labels: [], free: '' }}
            onChange={(choice) => change(at, choice)}
          />
        ))}
      </div>
      <div class="attention-actions">
        <button
          type="submit"
          class="button primary"
          disabled={answers === undefined || answering.isBusy || answering.isAsleep}
        >
          Answer
        </button>
        <button
          type="button"
          class="button quiet"
          disabled={answering.isBusy}
          onClick={() => answering.answer({ kind: 'deny' })}
        >
          Do not answer
        </button>
      </div>
    </form>
  )
}

function QuestionField(props: {
  question: Question
  name: string
  choice: Choice
  onChange: (choice: Choice) => void
}): VNode {
  const { question, name, choice, onChange } = props
  const kind = question.multiple ? 'checkbox' : 'radio'
  const toggle = (label: string, isOn: boolean): void => {
    if (!question.multiple) return onChange({ labels: isOn ? [label] : [], free: '' })
    const others = choice.labels.filter((one) => one !== label)
    onChange({ ...choice, labels: isOn ? [...others, label] : others })
  }
  return (
    <fieldset class="question">
      <legend>
        {question.header === undefined ? null : <span class="tag">{safeText(question.header)}</span>}{' '}
        {safeText(question.question)}
      </legend>
      {question.options.map(({ label, description }) => (
        <label class="option" key={label}>
          <input
            type={kind}
            name={name}
            checked={choice.labels.includes(label)}
            onChange={(event) => toggle(label, event.currentTarget.checked)}
          />
          <span>
            <b>{safeText(label)}</b>
            {description === undefined ? null : <span class="soft">{safeText(description)}</span>}
          </span>
        </label>
      ))}
      {question.free ? (
        <input
          type="text"
          class="option-free"
          aria-label={`${question.question}: in your own words`}
          placeholder={question.options.length > 0 ? 'Or in your own words' : 'Your answer'}
          value={choice.free}
          onInput={(event) =>
            onChange({
              labels: question.multiple ? choice.labels : [],
              free: event.currentTarget.value,
            })
          }
        />
      ) : null}
    </fieldset>
  )
}
