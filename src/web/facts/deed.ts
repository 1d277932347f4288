import { useState } from 'preact/hooks'
import { toTrouble } from '../answer.ts'
import { useShared } from '../shared.ts'

/** Does something with the session, and says how it went. */
export function useDeed(): readonly [
  isBusy: boolean,
  act: (deed: () => Promise<string | undefined>) => void,
] {
  const { say } = useShared()
  const [isBusy, setBusy] = useState(false)
  function act(deed: () => Promise<string | undefined>): void {
    setBusy(true)
    deed()
      .then(
        (words) => words !== undefined && say(words),
        (error: unknown) => {
          const { message, hint } = toTrouble(error)
          say(`${message} ${hint}`)
        },
      )
      .finally(() => setBusy(false))
  }
  return [isBusy, act]
}
