import { useSignal } from '@preact/signals'
import type { DocumentAction } from '#wire'
import { toTrouble, type Trouble } from '../answer.ts'
import { useShared } from '../shared.ts'

/** Does something with a document, and says what came of it. */
export function useAct(): {
  readonly act: (id: string, action: DocumentAction, words: string) => Promise<boolean>
  readonly trouble: Trouble | undefined
} {
  const { throughline, say } = useShared()
  const trouble = useSignal<Trouble | undefined>(undefined)
  return {
    trouble: trouble.value,
    async act(id, action, words) {
      try {
        await throughline.memory.act(id, action)
      } catch (error) {
        trouble.value = toTrouble(error)
        return false
      }
      trouble.value = undefined
      say(words)
      return true
    },
  }
}
