import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findAgentProcesses } from '#drivers'
import { textOf } from '#model'
import { expectError, type Suite } from './contract-suite.ts'
import { describeDriverAsks } from './driver-contract-asks.ts'
import { describeDriverEnds } from './driver-contract-ends.ts'
import { lacks, play, saidIn, type DriverPlace, type Played } from './driver-contract-stage.ts'

/** Opens a place for one test. */
export type OpenDriverPlace = () => Promise<DriverPlace>

/** Gives a test a place that is its own, and sees to it that nothing of it is left. */
export type WithDriver = (use: (place: DriverPlace, begin: typeof play) => Promise<void>) => Promise<void>

/** What every driver does, whatever agent it runs. Prompts are written in the cues of the scripted agent. */
export function describeDriver(
  suite: Suite,
  options: { readonly name: string; readonly open: OpenDriverPlace },
): void {
  const withDriver: WithDriver = async (use) => {
    const place = await options.open()
    const played: Played[] = []
    try {
      await use(place, async (...given) => {
        const one = await play(...given)
        played.push(one)
        return one
      })
    } finally {
      for (const one of played) await one.agent.close()
      await place.close()
    }
    const left = played.flatMap((one) => findAgentProcesses(one.sessionId))
    if (left.length > 0) throw new Error(`left running: ${JSON.stringify(left)}`)
  }

  suite.describe(options.name, () => {
    describeTalking(suite, withDriver)
    describeDriverAsks(suite, withDriver)
    describeDriverEnds(suite, withDriver)
  })
}

function describeTalking({ expect, test }: Suite, withDriver: WithDriver): void {
  test('[DRV1] an answer comes in pieces first, then whole, with the id it has on disk', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const hasGivenIds = !lacks(place, 'given-ids')
      expect(played.facts.find((fact) => fact.kind !== 'unknown')).toMatchObject({
        kind: 'started',
        mode: 'default',
      })
      expect(played.agentId() === played.sessionId).toBe(hasGivenIds)
      const outcome = await played.say('[[think first a thought]] [[say hello there my friend]]')
      expect(outcome).toMatchObject({ kind: 'answered' })

      const { facts } = played
      const messages = facts.filter((fact) => fact.kind === 'message' && fact.role === 'agent')
      expect(
        messages.map((fact) => fact.kind === 'message' && fact.blocks.map((block) => block.kind)),
      ).toEqual([['thinking'], ['text']])
      for (const [index, message] of messages.entries()) {
        if (message.kind !== 'message') continue
        const deltas = facts.filter(
          (fact) =>
            fact.kind === 'delta' && fact.messageId === message.messageId && fact.block === message.block,
        )
        expect(facts.indexOf(deltas[0] ?? message)).toBeLessThan(facts.indexOf(message))
        const text = deltas.map((fact) => (fact.kind === 'delta' ? fact.text : '')).join('')
        expect(text.trim()).toBe(['first a thought', 'hello there my friend'][index])
        expect(message.blocks).toMatchObject([index === 0 ? { thinking: text } : { text }])
        expect(Object.values(place.transcripts(played.agentId())).join('')).toContain(
          hasGivenIds ? `"uuid":"${message.id ?? '?'}"` : text.trim(),
        )
      }
      expect(facts.at(-1)?.kind).toBe('turn.ended')
    }))

  test('[DRV2] a turn begins with its prompt, under the id the prompt was sent with', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const id = randomUUID()
      await played.send('[[say one]]', id)
      await played.heard('turn.ended')
      const kinds = played.facts.filter((fact) => fact.kind !== 'unknown' && fact.kind !== 'started')
      expect(kinds[0]).toEqual({ kind: 'turn.started', promptId: id })
      expect(kinds[1]).toMatchObject({ kind: 'message', role: 'person', id })
      expect(Object.values(place.transcripts(played.agentId())).join('')).toContain(
        lacks(place, 'given-ids') ? '[[say one]]' : `"uuid":"${id}"`,
      )
    }))

  test('[DRV3] a prompt that is sent twice under one id is one prompt, and one in the middle of a turn is answered', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const first = randomUUID()
      const second = randomUUID()
      await played.send('[[slow 10]] [[say one two three four five six seven eight]]', first)
      await played.heard('delta')
      await Promise.all([
        played.send('[[say the second]]', second),
        played.send('[[say the second]]', second),
      ])
      await played.send('[[slow 10]] [[say one two three four five six seven eight]]', first)
      await played.heard(
        'message',
        0,
        (fact) => fact.role === 'agent' && textOf(fact.blocks) === 'the second',
      )
      expect(await played.say('[[say over]]')).toMatchObject({ kind: 'answered' })
      const person = played.facts.filter((fact) => fact.kind === 'message' && fact.role === 'person')
      expect(person.map((fact) => fact.kind === 'message' && fact.id).slice(0, 2)).toEqual([first, second])
      expect(person).toHaveLength(3)
      expect(saidIn(played.facts).split('\n')).toEqual([
        'one two three four five six seven eight',
        'the second',
        'over',
      ])
    }))

  test('[DRV4] a session that goes on knows what was said before, under the same id', () =>
    withDriver(async (place, begin) => {
      const first = await begin(place)
      await first.say('[[say noted]] the word is aubergine')
      await first.agent.close()

      const again = await begin(place, { resume: { sessionId: first.agentId() } })
      await again.say('[[recall]]')
      expect(saidIn(again.facts)).toContain('aubergine')
      expect(again.facts.some((fact) => fact.kind === 'renamed')).toBe(false)
      expect(again.agentId()).toBe(first.agentId())
      expect(again.facts.filter((fact) => fact.kind === 'turn.started')).toHaveLength(1)
      expect(Object.keys(place.transcripts(first.agentId()))).toHaveLength(1)
    }))

  test('[DRV5] a fork knows what was said, goes its own way and leaves the original alone', () =>
    withDriver(async (place, begin) => {
      const first = await begin(place)
      await first.say('[[say noted]] the word is aubergine')
      await first.agent.close()
      const before = place.transcripts(first.agentId())
      const forked = { sessionId: randomUUID(), resume: { sessionId: first.agentId(), fork: {} } }

      if (lacks(place, 'fork')) {
        await expectError(begin(place, forked), 'request-invalid')
        expect(place.transcripts(first.agentId())).toEqual(before)
        return
      }
      const fork = await begin(place, forked)
      await fork.say('[[recall]]')
      await fork.agent.close()
      expect(saidIn(fork.facts)).toContain('aubergine')
      expect(fork.agentId()).not.toBe(first.agentId())
      expect(place.transcripts(first.agentId())).toEqual(before)
      expect(Object.keys(place.transcripts(fork.agentId()))).toHaveLength(1)
    }))

  test('[DRV6] a conversation that is cleared goes on under another id, which is told', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      await played.say('[[say one]] the word is aubergine')
      await played.say('/clear')
      if (lacks(place, 'clear')) {
        expect(await played.say('[[say still here]]')).toMatchObject({ kind: 'answered' })
        expect(played.facts.some((fact) => fact.kind === 'renamed')).toBe(false)
        return
      }
      const renamed = await played.heard('renamed')
      expect(renamed.sessionId).not.toBe(played.sessionId)
      await played.say('[[recall]]')
      expect(saidIn(played.facts)).not.toContain('aubergine')
      expect(Object.keys(place.transcripts(renamed.sessionId))).toHaveLength(1)
    }))

  test('[DRV7] the mode is told when it changes, and a running session cannot be told to stop asking', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      await played.agent.setMode('accept-edits')
      const input = JSON.stringify({ file_path: join(place.workdir, 'edited.txt'), content: 'edited' })
      expect(await played.say(`[[tool Write ${input}]]`)).toMatchObject({ kind: 'answered' })
      expect(existsSync(join(place.workdir, 'edited.txt'))).toBe(true)
      expect(await played.heard('mode.changed')).toEqual({ kind: 'mode.changed', mode: 'accept-edits' })
      await expectError(played.agent.setMode('bypass'), 'mode-not-allowed')
      const turn = played.say(`[[tool Bash {"command":"sh -c 'touch asked'"}]]`)
      ;(await played.nextAsk()).answer({ kind: 'deny' })
      await turn
      expect(existsSync(join(place.workdir, 'asked'))).toBe(false)
    }))
}
