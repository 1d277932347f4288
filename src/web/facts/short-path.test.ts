import { expect, test } from 'vitest'
import { toShortPath } from './short-path.ts'

test('[WEB47] a file is named from the folder that the session worked in', () => {
  expect(toShortPath('/home/a/b/src/x.ts', ['/home/a', '/home/a/b/'])).toBe('src/x.ts')
  expect(toShortPath('/home/ab/x.ts', ['/home/a'])).toBe('/home/ab/x.ts')
  expect(toShortPath('C:\\work\\x.ts', ['C:\\work'])).toBe('x.ts')
  expect(toShortPath('/x.ts', [''])).toBe('/x.ts')
})
