import { join } from 'node:path'
import { createDecisionsOnOthers, type DecisionsOnOthers } from '#memory'
import { readLocalSettings } from './local-settings.ts'

/** What the person at this machine decided about documents of colleagues, and whom they trust. */
interface Decided {
  readonly decisions: DecisionsOnOthers
  readonly trusted: () => ReadonlySet<string>
  readonly decide: DecisionsOnOthers['decide']
  refresh(): Promise<void>
  /** Called when something was decided. Returns how to stop it. */
  onChange(listener: () => void): () => void
}

export function createDecided(home: string, now: () => number): Decided {
  const decisions = createDecisionsOnOthers(join(home, 'decisions.jsonl'), now)
  const listeners = new Set<() => void>()
  let trusted: ReadonlySet<string> = new Set()

  function publish(): void {
    for (const listener of listeners) listener()
  }

  return {
    decisions,
    trusted: () => trusted,
    async decide(document, decision, by) {
      await decisions.decide(document, decision, by)
      publish()
    },
    async refresh() {
      const isChanged = await decisions.refresh()
      // Settings that cannot be read trust nobody; who needs them says what is wrong with them.
      const names = await readLocalSettings(home).then(
        ({ wakeUp }) => wakeUp.trusted,
        () => [],
      )
      const isOther = names.join('\n') !== [...trusted].join('\n')
      if (isOther) trusted = new Set(names)
      if (isChanged || isOther) publish()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
