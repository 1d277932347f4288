import { ThroughlineError } from '#base'
import { expect, test } from 'vitest'
import { readPageOptions } from './requests.ts'

const read = (query: Record<string, string>): object => readPageOptions(new Map(Object.entries(query)))

test('[DIG4] a page is asked for around one place, in words that can be meant', () => {
  expect(read({ entry: 'a', limit: '7' })).toEqual({ limit: 7, around: { entry: 'a' } })
  expect(read({ time: '2026-11-15T09:30:00Z' })).toEqual({
    limit: 100,
    around: { time: '2026-11-15T09:30:00Z' },
  })
  expect(read({ offset: '0', subagent: 's' })).toEqual({ limit: 100, around: { offset: 0 }, subagent: 's' })
  expect(read({ entry: '', time: '', offset: '' })).toEqual({ limit: 100 })
  const wrong: readonly Record<string, string>[] = [
    { entry: 'a', offset: '1' },
    { entry: 'a', time: '2026-11-15' },
    { time: '2026-11-15', offset: '1' },
    { time: 'yesterday' },
    { offset: '-1' },
    { offset: '1.5' },
    { offset: '1e3' },
    { offset: '9'.repeat(20) },
    { entry: 'x'.repeat(5000) },
  ]
  for (const query of wrong) {
    expect(() => read(query)).toThrow(ThroughlineError)
    expect(() => read(query)).toThrow(expect.objectContaining({ code: 'request-invalid' }))
  }
})
