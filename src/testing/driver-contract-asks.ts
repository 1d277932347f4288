import { existsSync, readFileSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Resolution } from '#model'
import type { Suite } from './contract-suite.ts'
import { afterNo, lacks, resultsIn, saidIn, type OpenAsk } from './driver-contract-stage.ts'
import type { WithDriver } from './driver-contract.ts'
import { eventually } from './eventually.ts'

/** What a person is asked, and what comes of their answers. */
export function describeDriverAsks({ expect, test }: Suite, withDriver: WithDriver): void {
  test('[DRV8] a tool that is denied does not run, and the agent hears why', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const turn = played.say('[[tool Bash {"command":"touch ran"}]] [[say over]]')
      const { ask, answer } = await played.nextAsk()
      expect(ask).toMatchObject({
        kind: 'permission',
        input: { command: 'touch ran' },
        workdir: place.workdir,
        canEdit: place.driver.can.editInput,
      })
      answer({ kind: 'deny', words: 'Not in this house.' })
      // Words that cannot be said back stop the turn, if it is not over by then: they are the next prompt.
      const { kind: after } = await turn
      expect(lacks(place, 'words-of-a-no') ? ['interrupted', 'answered'] : [afterNo(place)]).toContain(after)
      expect(existsSync(join(place.workdir, 'ran'))).toBe(false)
      expect(resultsIn(played.facts)).toHaveLength(1)
      if (!lacks(place, 'words-of-a-no'))
        expect(resultsIn(played.facts).join()).toContain('Not in this house.')
      if (afterNo(place) === 'answered' && after === 'answered')
        expect(saidIn(played.facts)).toContain('over')
    }))

  test('[DRV9] a tool runs after it was allowed and not before, with the input that was shown', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const turn = played.say('[[tool Bash {"command":"touch ran"}]]')
      const { answer } = await played.nextAsk()
      await new Promise((resolve) => setTimeout(resolve, 200))
      expect(existsSync(join(place.workdir, 'ran'))).toBe(false)
      answer({ kind: 'allow', rules: [] })
      expect(await turn).toMatchObject({ kind: 'answered' })
      expect(existsSync(join(place.workdir, 'ran'))).toBe(true)
    }))

  test('[DRV10] an input that a person edited is what runs', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const turn = played.say('[[tool Bash {"command":"touch ran"}]]')
      ;(await played.nextAsk()).answer({ kind: 'allow', rules: [], input: { command: 'touch edited' } })
      await turn
      expect(existsSync(join(place.workdir, 'ran'))).toBe(false)
      // Where it cannot be said back, an edited input is a no.
      expect(existsSync(join(place.workdir, 'edited'))).toBe(place.driver.can.editInput)
    }))

  test('[DRV11] of what could be allowed beyond this once, only what was chosen is', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const allowOnce = async (prompt: string): Promise<void> => {
        const turn = played.say(prompt)
        const open = await played.nextAsk()
        expect(open.ask.kind === 'permission' ? open.ask.rules.length : 0).toBeGreaterThan(0)
        open.answer({ kind: 'allow', rules: [] })
        await turn
      }
      await allowOnce(toTouch('one.txt'))
      await allowOnce(toTouch('one.txt'))
      const turn = played.say(toTouch('two.txt'))
      const open = await played.nextAsk()
      const chosen =
        open.ask.kind === 'permission'
          ? (open.ask.rules.find((rule) => rule.scope === 'session') ?? open.ask.rules[0])
          : undefined
      expect(chosen).toBeDefined()
      open.answer({ kind: 'allow', rules: [chosen?.id ?? ''] })
      await turn
      await played.say(toTouch('two.txt'))
      expect(played.openAsks()).toEqual([])
      expect(existsSync(join(place.workdir, '.claude'))).toBe(false)
    }))

  test('[DRV12] a question reaches a person, and their answer the agent', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const turn = played.say('[[ask Which colour? | Red | Blue]]')
      if (lacks(place, 'questions')) {
        expect(await turn).toMatchObject({ kind: 'answered' })
        expect(played.openAsks()).toEqual([])
        return
      }
      const { ask, answer } = await played.nextAsk()
      expect(ask).toMatchObject({
        kind: 'question',
        questions: [
          { question: 'Which colour?', options: [{ label: 'Red' }, { label: 'Blue' }], multiple: false },
        ],
      })
      answer({ kind: 'answer', answers: [['Blue']] })
      expect(await turn).toMatchObject({ kind: 'answered' })
      expect(resultsIn(played.facts).join()).toContain('"Which colour?"="Blue"')
    }))

  const noAnswers: readonly (readonly [string, Resolution | 'fails'])[] = [
    ['an ask that fails', 'fails'],
    ['an answer to a question', { kind: 'answer', answers: [['yes']] }],
    ['an input that is none', { kind: 'allow', rules: [], input: 'touch ran' }],
  ]
  test.each(noAnswers)('[DRV13] %s is no permission', (_name, resolution) =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const turn = played.say('[[tool Bash {"command":"touch ran"}]]')
      const open = await played.nextAsk()
      if (resolution === 'fails') open.fail()
      else open.answer(resolution)
      expect(await turn).toMatchObject({ kind: afterNo(place) })
      expect(existsSync(join(place.workdir, 'ran'))).toBe(false)
    }),
  )

  test('[DRV14] a message with several calls asks for each, and each has its own answer', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const turn = played.say('[[tool Bash {"command":"echo 1 > a"}]][[with Bash {"command":"echo 2 > b"}]]')
      const pathOf = ({ ask }: OpenAsk): string =>
        join(place.workdir, JSON.stringify(ask).includes('echo 1') ? 'a' : 'b')
      const first = await played.nextAsk()
      const goesOn = afterNo(place) === 'answered'
      const isFirstDenied = goesOn && pathOf(first).endsWith('a')
      first.answer(isFirstDenied ? { kind: 'deny' } : { kind: 'allow', rules: [] })
      // Where a no ends the turn, it comes after the other call has run.
      if (!goesOn) await eventually(() => access(pathOf(first)))
      const second = await played.nextAsk()
      second.answer(isFirstDenied ? { kind: 'allow', rules: [] } : { kind: 'deny' })
      expect(await turn).toMatchObject({ kind: afterNo(place) })
      const [ran, denied] = isFirstDenied ? [second, first] : [first, second]
      expect(existsSync(pathOf(denied))).toBe(false)
      expect(readFileSync(pathOf(ran), 'utf8')).toBe(pathOf(ran).endsWith('a') ? '1\n' : '2\n')
    }))
}

function toTouch(name: string): string {
  return `[[tool Bash {"command":"touch ${name}"}]]`
}
