import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PermissionMode } from '#model'
import type { AgentOffer, FolderReport } from '#wire'
import { toTrouble, useAnswer, type Trouble } from '../answer.ts'
import { Icon } from '../icon.tsx'
import { WakeUpField } from '../memory/wake-up-field.tsx'
import { Sheet } from '../palette/sheet.tsx'
import { useShared } from '../shared.ts'
import { TroubleNote } from '../trouble-note.tsx'
import { AgentPicker } from './agent-picker.tsx'
import { MODE_MEANINGS } from './card-words.ts'
import { FolderField } from './folder-field.tsx'
import { mintId } from './mint-id.ts'
import { MODE_NAMES } from './session-words.ts'
import { findDraft, hasDraft, keepDraft, toWorkdirs, type StartDraft } from './start-draft.ts'
import { TrustView } from './trust-view.tsx'
import '../memory/memory.css'
import '../style/parts.css'
import './folder-field.css'
import './start-dialog.css'

/** Where a start stands. It goes from `asking` to `starting` by way of `trust` when the folder has something to say. */
type Step =
  | { readonly kind: 'form'; readonly trouble?: Trouble }
  | { readonly kind: 'asking' }
  | { readonly kind: 'trust'; readonly report: FolderReport; readonly trouble?: Trouble }
  | { readonly kind: 'starting' }

/** Begins a session: which agent, where, how much it asks, and with what. */
export function StartDialog({ onClose }: { onClose: () => void }): VNode {
  const { go, route, sessions, throughline } = useShared()
  const { live } = throughline
  // Minted once, so that trying again is the same start.
  const ids = useMemo(() => ({ session: mintId(), prompt: mintId() }), [])
  const [draft, setDraft] = useState<StartDraft>(() => findDraft(sessions.value ?? [], route.value))
  const [step, setStep] = useState<Step>({ kind: 'form' })
  const { answer: offers, again } = useAnswer(() => live.agents(), [])
  const known = useAnswer(() => live.workdirs(), []).answer
  const workdirs = useMemo(
    () => toWorkdirs(sessions.value ?? [], known.kind === 'there' ? known.value : []),
    [sessions.value, known],
  )
  /** A person said which folder: it stays, whatever becomes known of it. */
  const isChosen = useRef(hasDraft())
  const form = useRef<HTMLFormElement>(null)
  const offer = offers.kind === 'there' ? findOffer(offers.value, draft.agent) : undefined
  // What asks nobody cannot be asked for from a browser.
  const modes: readonly PermissionMode[] = (offer?.modes ?? []).filter((mode) => mode !== 'bypass')
  const mode = modes.includes(draft.mode) ? draft.mode : (modes[0] ?? 'default')
  const isBusy = step.kind === 'asking' || step.kind === 'starting'
  const isReady = offer !== undefined && offer.problem === undefined && draft.workdir.trim() !== ''

  const refusal = step.kind === 'form' ? step.trouble : undefined
  const folderTrouble = refusal?.code === 'folder-not-found' ? refusal : undefined

  useEffect(() => keepDraft(draft), [draft])
  useEffect(() => {
    if (known.kind !== 'there' || isChosen.current || workdirs.includes(draft.workdir)) return
    if (known.value.some(({ workdir }) => workdir === draft.workdir)) change({ workdir: workdirs[0] ?? '' })
  }, [known, workdirs])

  function change(part: Partial<StartDraft>): void {
    setDraft((before) => ({ ...before, ...part }))
  }

  async function ask(): Promise<void> {
    if (!isReady || isBusy) return
    setStep({ kind: 'asking' })
    try {
      const report = await live.folder(draft.workdir.trim())
      const isNew = report.trust === 'unknown' || report.trust === 'changed'
      if (isNew && report.settings.files.length + report.settings.effects.length > 0) {
        setStep({ kind: 'trust', report })
        return
      }
      await start(report.workdir)
    } catch (error) {
      setStep({ kind: 'form', trouble: toTrouble(error) })
    }
  }

  async function trust({ workdir, settings }: FolderReport): Promise<void> {
    setStep({ kind: 'starting' })
    try {
      await live.trust(workdir, { hash: settings.hash, trusted: true })
    } catch (error) {
      // It may have changed while somebody read it: what there is now is shown.
      const report = await live.folder(workdir).catch(() => undefined)
      const trouble = toTrouble(error)
      setStep(report === undefined ? { kind: 'form', trouble } : { kind: 'trust', report, trouble })
      return
    }
    await start(workdir)
  }

  async function start(workdir: string): Promise<void> {
    if (offer === undefined) return
    setStep({ kind: 'starting' })
    const model = draft.model.trim()
    try {
      await live.start({
        agent: offer.agent,
        workdir,
        sessionId: ids.session,
        mode,
        wakeUp: draft.wakeUp,
        ...(model === '' ? {} : { model }),
        ...(draft.prompt.trim() === ''
          ? {}
          : { prompt: { id: ids.prompt, blocks: [{ kind: 'text', text: draft.prompt }] } }),
      })
    } catch (error) {
      setStep({ kind: 'form', trouble: toTrouble(error) })
      return
    }
    keepDraft({ ...draft, prompt: '' })
    onClose()
    go({ kind: 'session', id: ids.session })
  }

  if (step.kind === 'trust') {
    return (
      <Sheet label="Trust this folder?" class="start-dialog" onClose={onClose}>
        <TrustView
          report={step.report}
          trouble={step.trouble}
          onTrust={() => void trust(step.report)}
          onWithout={() => void start(step.report.workdir)}
          onCancel={() => setStep({ kind: 'form' })}
        />
      </Sheet>
    )
  }
  return (
    <Sheet label="New session" class="start-dialog" onClose={onClose}>
      <header class="start-head">
        <h2>New session</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </header>
      <form
        ref={form}
        class="start-form"
        onSubmit={(event) => {
          event.preventDefault()
          void ask()
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return
          event.preventDefault()
          void ask()
        }}
      >
        <div class="start-fields" tabIndex={-1}>
          <label class="field">
            <span>What should it do?</span>
            <textarea
              rows={4}
              autofocus
              placeholder="The first prompt. It may stay empty."
              value={draft.prompt}
              onInput={(event) => change({ prompt: event.currentTarget.value })}
            />
          </label>
          <FolderField
            id="start-folder"
            label="Folder"
            value={draft.workdir}
            recent={workdirs}
            trouble={folderTrouble}
            onChange={(workdir) => {
              isChosen.current = true
              change({ workdir })
              setStep({ kind: 'form' })
            }}
          />
          {offers.kind === 'failed' ? (
            <TroubleNote trouble={offers.trouble} again={again} />
          ) : (
            <AgentPicker
              offers={offers.kind === 'there' ? offers.value : undefined}
              chosen={offer?.agent}
              onChoose={(agent) => change({ agent })}
            />
          )}
          <WakeUpField
            isOn={draft.wakeUp}
            workdir={draft.workdir}
            agent={offer?.agent}
            prompt={draft.prompt}
            onChange={(wakeUp) => change({ wakeUp })}
          />
          <ModeField
            modes={modes}
            mode={mode}
            words={offer?.modeWords?.[mode] ?? MODE_MEANINGS[mode]}
            onChoose={(chosen) => change({ mode: chosen })}
          />
          <label class="field">
            <span>
              Model <span class="soft">optional</span>
            </span>
            <input
              type="text"
              placeholder="As the agent has it"
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              value={draft.model}
              onInput={(event) => change({ model: event.currentTarget.value })}
            />
          </label>
          {refusal !== undefined && folderTrouble === undefined && <TroubleNote trouble={refusal} />}
        </div>
        <footer class="start-foot">
          <span class="faint small hint">
            <kbd>Ctrl</kbd> <kbd>Enter</kbd> starts
          </span>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={!isReady || isBusy}>
            {isBusy ? 'A moment…' : 'Start'}
          </button>
        </footer>
      </form>
    </Sheet>
  )
}

/** The agent that was chosen, else the first that can be run. */
function findOffer(offers: readonly AgentOffer[], agent: string): AgentOffer | undefined {
  return (
    offers.find((offer) => offer.agent === agent) ??
    offers.find(({ problem }) => problem === undefined) ??
    offers[0]
  )
}

function ModeField(props: {
  modes: readonly PermissionMode[]
  mode: PermissionMode
  words: string
  onChoose: (mode: PermissionMode) => void
}): VNode | null {
  if (props.modes.length === 0) return null
  return (
    <div class="field" role="group" aria-label="How much it asks">
      <span>How much it asks</span>
      {props.modes.length > 1 && (
        <div class="choice">
          {props.modes.map((mode) => (
            <button
              key={mode}
              type="button"
              aria-pressed={mode === props.mode}
              onClick={() => props.onChoose(mode)}
            >
              {MODE_NAMES[mode]}
            </button>
          ))}
        </div>
      )}
      <span class="soft small">{props.words}</span>
    </div>
  )
}
