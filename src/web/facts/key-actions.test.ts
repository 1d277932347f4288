import { expect, test } from 'vitest'
import { toKeyActions } from './key-actions.ts'

const kinds = (...commands: readonly string[]): readonly (string | undefined)[] =>
  commands.map((command) => toKeyActions({ commands: [{ entryId: 'e', command, failed: false }] })[0]?.what)

test('[WEB48] what leaves a trace outside of a session is told apart from what only looks', () => {
  expect(
    kinds(
      'git commit -m "x"',
      'git -C /work commit -am x && git push',
      'cd a && git push origin main',
      'git checkout -b new',
      'git reset --hard HEAD~1',
      'gh pr create --fill',
      'npm publish',
      'npm install left-pad',
      'rm -rf dist',
      'npx vitest run',
      'terraform apply',
    ),
  ).toEqual([
    'commit',
    'commit',
    'push',
    'branch',
    'discard',
    'request',
    'publish',
    'install',
    'delete',
    'test',
    'deploy',
  ])
  expect(
    kinds('git status', 'git log --oneline', 'ls -la', 'cat commit.txt', 'rg push src', 'npm run lint'),
  ).toEqual(Array.from({ length: 6 }, () => undefined))
})

test('[WEB48] key actions keep their order, their entries, and whether they failed or were not allowed', () => {
  const commands = [
    { entryId: 'a', command: 'npm test', failed: true },
    { entryId: 'b', command: 'ls', failed: false },
    { entryId: 'd', command: 'git push', failed: false, denied: true } as const,
    { entryId: 'c', at: '2026-11-16T00:00:00Z', command: 'git commit -m done', failed: false },
  ]
  expect(toKeyActions({ commands })).toEqual([
    { entryId: 'a', at: undefined, what: 'test', command: 'npm test', failed: true, denied: false },
    { entryId: 'd', at: undefined, what: 'push', command: 'git push', failed: false, denied: true },
    {
      entryId: 'c',
      at: '2026-11-16T00:00:00Z',
      what: 'commit',
      command: 'git commit -m done',
      failed: false,
      denied: false,
    },
  ])
})
