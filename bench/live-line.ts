import { randomUUID } from 'node:crypto'

/** A prompt as Claude Code writes it, with a mark that says which one it is and when it was made. */
export function toLiveLine(
  sessionId: string,
  { n, bytes, at = 0 }: { readonly n: number; readonly bytes: number; readonly at?: number },
): string {
  const mark = `live n=${n} at=${at.toFixed(3)} `
  const line = {
    parentUuid: null,
    isSidechain: false,
    userType: 'external',
    cwd: '/home/user/work',
    sessionId,
    version: '2.1.0',
    type: 'user',
    message: { role: 'user', content: mark.padEnd(bytes, 'the quick brown fox jumps ') },
    uuid: randomUUID(),
    timestamp: new Date().toISOString(),
  }
  return `${JSON.stringify(line)}\n`
}

/** Milliseconds on the one clock that all processes of the machine share. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Calls back for every mark in a text, in order. */
export function eachMark(text: string, onMark: (n: number, at: number) => void): void {
  for (const [, n, at] of text.matchAll(/live n=(\d+) at=([\d.]+) /g)) onMark(Number(n), Number(at))
}
