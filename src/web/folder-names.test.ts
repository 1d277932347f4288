import { expect, test } from 'vitest'
import { toLongerNames } from './folder-names.ts'

test('[WEB54] folders of one name are told apart by the shortest end of their path that only they have', () => {
  const names = toLongerNames([
    '/home/ada/cli',
    '/home/bob/cli',
    '/home/ada/web',
    '/work/a/4c1/1',
    '/work/b/4c1/1',
    '/srv/2026',
    '/cli',
    String.raw`C:\work\web`,
  ])
  expect(Object.fromEntries(names)).toEqual({
    '/home/ada/cli': 'ada/cli',
    '/home/bob/cli': 'bob/cli',
    '/home/ada/web': 'ada/web',
    '/work/a/4c1/1': 'a/4c1/1',
    '/work/b/4c1/1': 'b/4c1/1',
    '/srv/2026': '/srv/2026',
    '/cli': '/cli',
    [String.raw`C:\work\web`]: 'work/web',
  })
  expect([...toLongerNames(['/work/alpha', '/work/beta', '/'])]).toEqual([])
})
