import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { isNativeAgent, toResumeCommand, type SessionSummary } from '#model'
import { toSize } from '#render'
import { toTrouble } from '../answer.ts'
import { copyText } from '../clipboard.ts'
import { downloadExport, type ExportName } from '../download.ts'
import { Icon } from '../icon.tsx'
import { useShared } from '../shared.ts'

const FORMATS: readonly { readonly format: ExportName; readonly words: string; readonly what: string }[] = [
  { format: 'html', words: 'Web page', what: 'one file that opens in any browser, secrets masked' },
  { format: 'md', words: 'Markdown', what: 'to read and to quote, secrets masked' },
  { format: 'jsonl', words: 'Original', what: 'the transcript, byte for byte, with any secrets in it' },
]

/** Ways to take a session along. */
export function Exports({ session }: { session: SessionSummary }): VNode {
  const { fetchExport, say } = useShared()
  const [busy, setBusy] = useState<ExportName | undefined>(undefined)
  async function save(format: ExportName): Promise<void> {
    setBusy(format)
    try {
      await downloadExport(fetchExport, session, format)
    } catch (error) {
      const { message, hint } = toTrouble(error)
      say(`${message} ${hint}`)
    }
    setBusy(undefined)
  }
  return (
    <ul class="exports">
      {FORMATS.map(({ format, words, what }) => (
        <li key={format}>
          <button
            type="button"
            class="button"
            disabled={busy !== undefined}
            onClick={() => void save(format)}
          >
            <Icon name="download" />
            {busy === format ? 'Preparing…' : words}
          </button>
          <span class="soft small">{what}</span>
        </li>
      ))}
    </ul>
  )
}

/** Where the session is, and how to go on with it elsewhere. */
export function Whereabouts({ session }: { session: SessionSummary }): VNode {
  const workdir = session.workdirs.at(-1)
  return (
    <dl class="whereabouts">
      <CopyLine words={`File, ${toSize(session.size)}`} text={session.path} />
      {session.origin !== undefined && (
        <div>
          <dt>On</dt>
          <dd>
            {session.origin.machine}
            {session.origin.mine ? '' : `, of ${session.origin.person}`}
            <span class="soft small"> The file above is the copy of it here.</span>
          </dd>
        </div>
      )}
      {session.sourceGone === true && (
        <div>
          <dt />
          <dd class="soft small">The agent deleted its own file; this is the copy in the archive.</dd>
        </div>
      )}
      {session.recorded !== undefined && (
        <div>
          <dt>Written by</dt>
          <dd class="soft small">
            {session.recorded.as === 'recording'
              ? `A recording: written beside the work while ${session.agent} was at it.`
              : "Entire: a copy of the agent's own transcript, as it was at the end of a turn."}
          </dd>
        </div>
      )}
      {workdir !== undefined && workdir !== '' && <CopyLine words="Worked in" text={workdir} />}
      <CopyLine words="Session" text={session.id} />
      {session.recorded?.of !== undefined && (
        <CopyLine words="The agent's own session" text={session.recorded.of} />
      )}
      {isNativeAgent(session.agent) &&
        session.recorded === undefined &&
        session.demo !== true &&
        session.origin === undefined &&
        session.sourceGone !== true && (
          <CopyLine words="Go on in a terminal" text={toResumeCommand(session.agent, session.id).join(' ')} />
        )}
      <CopyLine words="Read in a terminal" text={`throughline show ${session.id}`} />
    </dl>
  )
}

/** A text that is there to be copied, under its name. */
export function CopyLine({ words, text }: { words: string; text: string }): VNode {
  const { say } = useShared()
  const copy = (): void => {
    copyText(text).then(
      () => say(`Copied: ${text}`),
      () => say('The browser did not allow copying.'),
    )
  }
  return (
    <div>
      <dt>{words}</dt>
      <dd>
        <code>{text}</code>
        <button type="button" class="button quiet" aria-label={`Copy: ${words}`} title="Copy" onClick={copy}>
          <Icon name="copy" />
        </button>
      </dd>
    </div>
  )
}
