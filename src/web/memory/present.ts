import { useShared } from '../shared.ts'

/** The time, for what ends by itself. What was ended just now has ended, though the app counts half minutes. */
export function usePresent(): number {
  const { now } = useShared()
  return Math.max(now.value, Date.now())
}
