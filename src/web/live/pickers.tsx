import { useSignal, type Signal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { safeLine } from '#render'
import { useShared } from '../shared.ts'
import type { LiveSession } from './live-session.ts'
import { toFailure } from './outbox.ts'
import { CHOICES, findChoice, MODE_NAMES } from './session-words.ts'

/** With what a session that is over is to go on. Nothing: as it was. */
export interface Wanted {
  readonly mode?: (typeof CHOICES)[number]
  readonly model?: string
}

/** How much a person is asked. Always in sight; a change that is refused says why. */
export function ModePicker({ live, wanted }: { live: LiveSession; wanted: Signal<Wanted> }): VNode {
  const { throughline, say } = useShared()
  const isHere = live.where.value === 'live'
  const told = isHere ? live.view.value?.mode : wanted.value.mode
  /** What was chosen and is not told yet. */
  const chosen = useSignal<Wanted['mode']>(undefined)
  const now = chosen.value ?? told
  const offered = isHere ? live.view.value?.modes : undefined
  const choices = CHOICES.filter((mode) => offered === undefined || mode === now || offered.includes(mode))
  useEffect(() => {
    chosen.value = undefined
  }, [told])

  async function choose(field: HTMLSelectElement): Promise<void> {
    const mode = findChoice(field.value)
    if (!isHere) {
      const { model } = wanted.value
      wanted.value = { ...(model === undefined ? {} : { model }), ...(mode === undefined ? {} : { mode }) }
      return
    }
    if (mode === undefined) return
    chosen.value = mode
    try {
      await throughline.live.setMode(live.id, mode)
    } catch (error) {
      const { message, hint } = toFailure(error)
      say(`${message}. ${hint}`)
      chosen.value = undefined
      // As it is by now: it may have been told meanwhile that an earlier choice holds.
      field.value = live.view.value?.mode ?? ''
    }
  }

  return (
    <select
      class={`picker mode-${now ?? 'none'}`}
      aria-label="How much you are asked"
      title="How much you are asked"
      value={now ?? ''}
      // Until it is known whether it runs, nobody can say what a choice means.
      disabled={live.where.value === 'asking'}
      onChange={(event) => void choose(event.currentTarget)}
    >
      {isHere ? null : <option value="">Mode as before</option>}
      {now === 'bypass' ? <option value="bypass">{MODE_NAMES.bypass}</option> : null}
      {choices.map((mode) => (
        <option key={mode} value={mode}>
          {MODE_NAMES[mode]}
        </option>
      ))}
    </select>
  )
}

/** The model: those that the agent offers and those of the session are at hand, and any other name can be typed. */
export function ModelPicker(props: {
  live: LiveSession
  wanted: Signal<Wanted>
  models: readonly string[]
}): VNode {
  const { live, wanted } = props
  const { throughline, say } = useShared()
  const isHere = live.where.value === 'live'
  const now = (isHere ? live.view.value?.model : wanted.value.model) ?? ''
  const offered = isHere ? (live.view.value?.models ?? []) : []
  const names = new Map(offered.map(({ id, name }) => [id, name]))
  const known = [...new Set([...(now === '' ? [] : [now]), ...names.keys(), ...props.models])]

  async function choose(field: HTMLInputElement): Promise<void> {
    const model = field.value.trim()
    if (model === now) return
    if (!isHere) {
      const { mode } = wanted.value
      wanted.value = { ...(mode === undefined ? {} : { mode }), ...(model === '' ? {} : { model }) }
      return
    }
    if (model === '') {
      field.value = now
      return
    }
    try {
      await throughline.live.setModel(live.id, model)
      say(`Model: ${safeLine(model)}`)
    } catch (error) {
      const { message, hint } = toFailure(error)
      say(`${message}. ${hint}`)
      field.value = live.view.value?.model ?? ''
    }
  }

  return (
    <>
      <input
        type="text"
        class="picker model"
        list="known-models"
        aria-label="Model"
        title="Model: any name the agent knows"
        placeholder="Model as before"
        spellcheck={false}
        autocomplete="off"
        value={now}
        disabled={live.where.value === 'asking'}
        onChange={(event) => void choose(event.currentTarget)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          event.currentTarget.blur()
        }}
      />
      <datalist id="known-models">
        {known.map((model) => (
          <option key={model} value={model} label={safeLine(names.get(model) ?? model)} />
        ))}
      </datalist>
    </>
  )
}
