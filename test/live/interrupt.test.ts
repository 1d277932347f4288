import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RemoteThroughline } from '#client'
import { AGENTS_HERE } from '../opencode-program.ts'
import {
  answer,
  attentionOf,
  openLivePlace,
  say,
  shell,
  until,
  waitFor,
  type LivePlace,
} from './live-place.ts'

/** Each of them writes to a file for as long as it runs, and has a word by which its processes are found. */
const COMMANDS: Readonly<Record<string, (file: string, mark: string) => string>> = {
  'a loop in the shell': (file, mark) => `while true; do echo ${mark} >> ${file}; sleep 0.1; done`,
  'a program that waits': (file, mark) =>
    `node -e "setInterval(() => require('fs').appendFileSync('${file}', '${mark}'), 100)"`,
  'a child that left its parent': (file, mark) =>
    `(setsid nohup sh -c 'while true; do echo ${mark} >> ${file}; sleep 0.1; done' >/dev/null 2>&1 &) ; sleep 60`,
}

/** The processes whose command has this word, but not this one. */
function findByWord(word: string): readonly string[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return []
    try {
      const state = readFileSync(`/proc/${name}/stat`, 'utf8')
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      return command.includes(word) && !/\) Z/.test(state) ? [command.replaceAll('\0', ' ')] : []
    } catch {
      return []
    }
  })
}

/** Every real agent, in a real host of a real daemon; only the model is ours. */
describe('an interrupt while a tool runs', () => {
  let place: LivePlace
  let device: RemoteThroughline

  beforeAll(async () => {
    place = await openLivePlace()
    device = await place.connect()
  })
  afterAll(async () => await place?.close())

  test.each(AGENTS_HERE)(
    '[DRV17] [LVS32] %s: ends the tool with everything it started, and nothing else',
    async (agent) => {
      const { sessionId } = await device.live.start({
        agent,
        workdir: place.workdir,
        prompt: say(
          shell(
            `(setsid sh -c 'touch begun-${agent}; while sleep 0.1; do :; done; : earlier-${agent}' >/dev/null 2>&1 &); until test -e begun-${agent}; do sleep 0.1; done`,
          ),
        ),
      })
      await answer(device, await attentionOf(device, sessionId))
      await until(device, sessionId, ({ state }) => state.state === 'idle')
      for (const [what, toCommand] of Object.entries(COMMANDS)) {
        const mark = `${agent}-${what.replaceAll(' ', '-')}`
        const file = join(place.workdir, mark)
        const prompt = say(shell(toCommand(file, mark)))
        await device.live.prompt(sessionId, prompt)
        await answer(device, await attentionOf(device, sessionId))
        await waitFor(`${what} runs`, () => (existsSync(file) ? true : undefined))
        await device.live.interrupt(sessionId)
        const { turn } = await until(
          device,
          sessionId,
          ({ turn: now, state }) =>
            now?.promptId === prompt.id && now.outcome !== undefined && state.state === 'idle',
        )
        expect({ what, outcome: turn?.outcome?.kind }).toEqual({ what, outcome: 'interrupted' })
        expect({ what, left: findByWord(mark) }).toEqual({ what, left: [] })
      }
      // What an earlier call left running is not what was interrupted; and the session goes on.
      expect(findByWord(`earlier-${agent}`)).not.toEqual([])
      const next = say('[[say still here]]')
      await device.live.prompt(sessionId, next)
      const { turn } = await until(
        device,
        sessionId,
        ({ turn: now }) => now?.promptId === next.id && now.outcome !== undefined,
      )
      expect(turn?.outcome?.kind).toBe('answered')
      await device.live.end(sessionId)
    },
  )
})
