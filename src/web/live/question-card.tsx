import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { Question, QuestionAsk } from '#model'
import { textsOfAsk } from '#render'
import type { Answering } from './attention-card.tsx'
import { toOptionKey } from './card-keys.ts'
import { Exact, HiddenWarning } from './exact-text.tsx'
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
            before={ask.questions.slice(0, at).reduce((sum, { options }) => sum + options.length, 0)}
            question={question}
            choice={choices.value[at] ?? { labels: [], free: '' }}
            onChange={(choice) => change(at, choice)}
          />
        ))}
        <HiddenWarning texts={textsOfAsk(ask)} />
      </div>
      <div class="attention-actions">
        <button
          type="submit"
          class="button primary"
          aria-keyshortcuts="a"
          disabled={answers === undefined || answering.isBusy || answering.isAsleep}
        >
          Answer
        </button>
        <button
          type="button"
          class="button quiet"
          aria-keyshortcuts="d"
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
  /** How many options stand above it: those keys are taken. */
  before: number
  choice: Choice
  onChange: (choice: Choice) => void
}): VNode {
  const { question, name, before, choice, onChange } = props
  const kind = question.multiple ? 'checkbox' : 'radio'
  const toggle = (label: string, isOn: boolean): void => {
    if (!question.multiple) return onChange({ labels: isOn ? [label] : [], free: '' })
    const others = choice.labels.filter((one) => one !== label)
    onChange({ ...choice, labels: isOn ? [...others, label] : others })
  }
  return (
    <fieldset class="question">
      <legend>
        {question.header === undefined ? null : (
          <span class="tag">
            <Exact text={question.header} />
          </span>
        )}{' '}
        <Exact text={question.question} />
      </legend>
      {question.options.map(({ label, description }, at) => (
        <label class="option" key={label}>
          <input
            type={kind}
            name={name}
            {...toOptionKey(before + at)}
            checked={choice.labels.includes(label)}
            onChange={(event) => toggle(label, event.currentTarget.checked)}
          />
          <span>
            <b data-keys={toOptionKey(before + at)['aria-keyshortcuts']}>
              <Exact text={label} />
            </b>
            {description === undefined ? null : (
              <span class="soft">
                <Exact text={description} />
              </span>
            )}
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
