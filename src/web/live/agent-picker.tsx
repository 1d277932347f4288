import type { VNode } from 'preact'
import type { AgentOffer } from '#wire'
import { AgentIcon } from '../agent-icon.tsx'

/** The agents of this machine. One that cannot be run says why, and what to do about it. */
export function AgentPicker(props: {
  offers: readonly AgentOffer[] | undefined
  chosen: string | undefined
  onChoose: (agent: string) => void
}): VNode {
  const { offers, chosen, onChoose } = props
  if (offers === undefined)
    return <div class="field ghost agents-ghost" role="status" aria-label="Looking for agents" />
  const problem = offers.find(({ agent }) => agent === chosen)?.problem
  return (
    <fieldset class="field agents">
      <legend>Agent</legend>
      <div>
        {offers.map((offer) => (
          <label key={offer.agent} class={offer.problem === undefined ? '' : 'unavailable'}>
            <input
              type="radio"
              name="agent"
              value={offer.agent}
              checked={offer.agent === chosen}
              onChange={() => onChoose(offer.agent)}
            />
            <AgentIcon agent={offer.agent} />
            <span>
              {offer.name}
              {offer.problem !== undefined && <span class="small"> unavailable</span>}
            </span>
          </label>
        ))}
      </div>
      {problem !== undefined && (
        <p class="agent-problem small" role="status">
          <b>{problem.message}</b> {problem.hint}
        </p>
      )}
    </fieldset>
  )
}
