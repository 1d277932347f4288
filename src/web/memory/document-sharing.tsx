import type { VNode } from 'preact'
import type { MemoryDocument } from '#model'
import { safeLine } from '#render'
import { toMoment } from '../age.ts'
import { useAnswer } from '../answer.ts'
import { Words } from '../message/words.tsx'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { useAct } from './document-act.ts'

const SCOPES = [
  ['private', 'Only you'],
  ['workdir', 'Those with whom its folder is shared'],
  ['team', 'Everybody in the team'],
] as const

/** Who a document is for, and what was changed on two machines at once. Nothing where there is no team. */
export function DocumentSharing({ document }: { document: MemoryDocument }): VNode | null {
  const { health } = useShared()
  if (health.value?.team === undefined) return null
  const { elsewhere } = document
  const isMine = elsewhere === undefined || elsewhere.mine
  const canShare = isMine && (document.type === 'learning' || document.type === 'teaching')
  return (
    <>
      {isMine ? null : (
        <p class="hush">
          {safeLine(elsewhere.person)} wrote it on {safeLine(elsewhere.machine)} and shares it. It can be read
          here, and changed there.
        </p>
      )}
      <Conflict document={document} />
      {canShare ? <Scope document={document} /> : null}
    </>
  )
}

function Scope({ document }: { document: MemoryDocument }): VNode {
  const { act, trouble } = useAct()
  const { id, scope = 'private', workdir } = document
  return (
    <>
      {trouble === undefined ? null : <TroubleNote trouble={trouble} />}
      <label class="memory-scope">
        <span class="soft small">Who may be told it</span>
        <select
          value={scope}
          onChange={(event) => {
            const chosen = SCOPES.find(([name]) => name === event.currentTarget.value)
            if (chosen !== undefined)
              void act(id, { do: 'share', scope: chosen[0] }, `For: ${chosen[1].toLowerCase()}`)
          }}
        >
          {SCOPES.map(([name, words]) => (
            <option key={name} value={name} disabled={name === 'workdir' && workdir === undefined}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </>
  )
}

/** Both sides, until a person has decided. */
function Conflict({ document }: { document: MemoryDocument }): VNode | null {
  const { act, trouble } = useAct()
  const { throughline } = useShared()
  const { conflict = [], id } = document
  const { answer } = useAnswer(
    () => (conflict.length === 0 ? Promise.resolve([]) : throughline.memory.versions(id)),
    [id, conflict.length],
  )
  if (conflict.length === 0) return null
  const versions = answer.kind === 'there' ? answer.value : []
  return (
    <section class="memory-conflict" aria-label="Changed on two machines">
      <h3>Changed on two machines while they could not see each other</h3>
      {trouble === undefined ? null : <TroubleNote trouble={trouble} />}
      <ul>
        {conflict.map((side) => (
          <li key={side.key}>
            <p class="soft small">
              {side.elsewhere === undefined ? 'On this machine' : `On ${safeLine(side.elsewhere.machine)}`},{' '}
              {toMoment(side.at)}
            </p>
            <Words
              text={versions.find(({ key }) => key === side.key)?.document.content ?? ''}
              marks={NO_MARKS}
            />
            <button
              type="button"
              class="button"
              onClick={() => void act(id, { do: 'decide', key: side.key }, 'Decided')}
            >
              Keep this one
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

const NO_MARKS: readonly string[] = []
