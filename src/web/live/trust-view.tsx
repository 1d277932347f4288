import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { SettingsEffect, SettingsFile } from '#model'
import { textsOfSettings, toSize } from '#render'
import type { FolderReport } from '#wire'
import type { Trouble } from '../answer.ts'
import { Icon } from '../icon.tsx'
import { TroubleNote } from '../trouble-note.tsx'
import { toDangers } from './dangers.ts'
import { Exact, HiddenWarning } from './exact-text.tsx'

/** Pixels that a browser may round away at the end of a list. */
const SLACK = 8

/**
 * What an agent would load from a folder, the most dangerous first and nothing of it shortened. It can be trusted only
 * by somebody who had all of it before their eyes.
 */
export function TrustView(props: {
  report: FolderReport
  trouble: Trouble | undefined
  onTrust: () => void
  onWithout: () => void
  onCancel: () => void
}): VNode {
  const { workdir, trust, settings } = props.report
  const box = useRef<HTMLDivElement>(null)
  const [isSeen, setSeen] = useState(false)
  const dangers = toDangers(settings.effects)

  function look(): void {
    const { current } = box
    if (current !== null && current.scrollTop + current.clientHeight >= current.scrollHeight - SLACK)
      setSeen(true)
  }
  useEffect(() => {
    setSeen(false)
    box.current?.scrollTo(0, 0)
    look()
    addEventListener('resize', look)
    return () => removeEventListener('resize', look)
  }, [settings.hash])

  return (
    <div class="trust">
      <header class="start-head">
        <h2>
          <Icon name="warning" /> {trust === 'changed' ? 'This folder has changed' : 'Trust this folder?'}
        </h2>
      </header>
      <div
        class="trust-body"
        ref={box}
        tabIndex={0}
        role="region"
        aria-label="What would be loaded"
        onScroll={look}
      >
        {props.trouble !== undefined && <TroubleNote trouble={props.trouble} />}
        <p>
          <code class="trust-path">
            <Exact text={workdir} />
          </code>
        </p>
        <p class="soft">
          {trust === 'changed'
            ? 'You trusted it, and since then what an agent loads from it has changed. It is not loaded unless you trust it again.'
            : 'An agent that works here would load the following from it. Some of it runs without asking you.'}
        </p>
        <HiddenWarning texts={textsOfSettings(settings)} />
        {dangers.map(({ kind, title, means, effects }) => (
          <section key={kind} class={`danger ${kind}`}>
            <h3>
              {title} <span class="tally">{effects.length}</span>
            </h3>
            <p class="soft small">{means}</p>
            <ul>
              {effects.map((effect, at) => (
                <Effect key={at} effect={effect} />
              ))}
            </ul>
          </section>
        ))}
        <section class="trust-files">
          <h3>
            Files <span class="tally">{settings.files.length}</span>
          </h3>
          <ul>
            {settings.files.map((file) => (
              <File key={file.path} file={file} />
            ))}
          </ul>
          <p class="soft small">
            Trusted is what is in them now: <code class="trust-hash">{settings.hash}</code>
          </p>
        </section>
      </div>
      <footer class="start-foot">
        {!isSeen && (
          <span class="soft small hint" role="status">
            Scroll to the end to trust it
          </span>
        )}
        <button type="button" class="button quiet" onClick={props.onCancel}>
          Cancel
        </button>
        <button type="button" class="button" autofocus onClick={props.onWithout}>
          Start without them
        </button>
        <button type="button" class="button primary" disabled={!isSeen} onClick={props.onTrust}>
          Trust and start
        </button>
      </footer>
    </div>
  )
}

function Effect({ effect: { name, what, file } }: { effect: SettingsEffect }): VNode {
  return (
    <li>
      <p class="effect-name">
        <b>
          <Exact text={name} />
        </b>{' '}
        {file !== name && (
          <span class="soft small">
            <Exact text={file} />
          </span>
        )}
      </p>
      {what === '' ? null : (
        <pre>
          <Exact text={what} />
        </pre>
      )}
    </li>
  )
}

function File({ file: { path, bytes, hash, problem } }: { file: SettingsFile }): VNode {
  return (
    <li>
      <code class="path">
        <Exact text={path} />
      </code>
      <span class="soft small">{toSize(bytes)}</span>
      <code class="faint" title={hash}>
        {hash.slice(0, 12)}
      </code>
      {problem !== undefined && (
        <p class="file-problem small">
          <Exact text={problem} />
        </p>
      )}
    </li>
  )
}
