import { readFileSync } from 'node:fs'

/**
 * The most memory that this process had, in kilobytes. What the kernel counts for its whole life begins with what the
 * process had that started it; where the system says what it had itself, that is taken.
 */
export function peakMemoryKb(): number {
  try {
    const [, kilobytes] = /^VmHWM:\s*(\d+) kB$/mu.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    if (kilobytes !== undefined) return Number(kilobytes)
  } catch {
    // Only Linux has it.
  }
  return process.resourceUsage().maxRSS
}
