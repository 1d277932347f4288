import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { list, string } from '#base'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openUserPlace, type UserPlace } from './user-place.ts'

let place: UserPlace
beforeEach(async () => {
  place = await openUserPlace()
  mkdirSync(join(place.home, '.throughline'), { mode: 0o700 })
})
afterEach(() => place.remove())

function configure(text: string): string {
  const path = join(place.home, '.throughline/config.json')
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

test('[CLI60] a config.json that is no JSON is told by every command, with its place and nothing of it', async () => {
  const path = configure('{\n  "store": "postgres://ada:secret@db.example/team" oops\n}\n')
  const told = `${path} cannot be used: it is not valid JSON: line 2, column 52`
  for (const args of [['ls'], ['status'], ['search', 'x'], ['usage'], ['start'], ['ls'], ['pair']]) {
    const { err } = await place.run(args)
    expect([args, err.includes(`note: ${told}\nnext: `)]).toEqual([args, true])
    expect(err).not.toContain('secret')
  }
  // With the daemon that runs now it is a notice of it.
  const status = await place.run(['status'])
  expect(status.out).toContain(told)
  expect(list(await place.json(['status']), 'notices').map((one) => string(one, 'message'))).toEqual([told])
  // What would say something false otherwise is an error.
  for (const args of [['team'], ['wake-up'], ['run', 'hello']]) {
    const { code, out, err } = await place.run(args)
    expect([args, code, out, err]).toEqual([args, 1, '', expect.stringContaining(`error: ${told}\nnext: `)])
  }
})

test('[CLI60] wrong values and unknown keys are told, and a good file is not spoken of', async () => {
  const path = configure(
    '{ "wakeUp": { "on": "yes" }, "widestMode": "yolo", "notifications": { "desktop": 0 } }',
  )
  const { err } = await place.run(['ls'])
  for (const line of [
    `note: ${path} cannot be used: wakeUp.on is neither true nor false\n`,
    `note: ${path}: widestMode is no setting, and is ignored; did you mean live.widestMode?\n`,
    `note: ${path} cannot be used: notifications.desktop is neither true nor false\n`,
  ])
    expect(err).toContain(line)
  configure('{ "wakeUp": { "on": false } }')
  expect((await place.run(['ls'])).err).not.toContain('config.json')
})
