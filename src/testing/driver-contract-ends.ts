import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findAgentProcesses, findProcess, isRunning, type ProcessId } from '#drivers'
import { expectError, type Suite } from './contract-suite.ts'
import { lacks, resultsIn, saidIn, type DriverPlace, type Played } from './driver-contract-stage.ts'
import type { WithDriver } from './driver-contract.ts'

/** How turns and agents end. */
export function describeDriverEnds({ expect, test }: Suite, withDriver: WithDriver): void {
  test('[DRV15] an interrupt ends the turn, and the next prompt is answered', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const turn = played.say(
        '[[slow 20]] [[say one two three four five six seven eight nine ten eleven twelve]]',
      )
      await played.heard('delta')
      await played.agent.interrupt()
      expect(await turn).toEqual({ kind: 'interrupted' })
      expect(await played.say('[[say still here]]')).toMatchObject({ kind: 'answered' })
      expect(saidIn(played.facts)).toContain('still here')
    }))

  test('[DRV15] an interrupt while nothing runs changes nothing', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      await played.agent.interrupt()
      expect(await played.say('[[say one]]')).toMatchObject({ kind: 'answered' })
      await played.agent.interrupt()
      await played.agent.interrupt()
      expect(await played.say('[[say two]]')).toMatchObject({ kind: 'answered' })
      expect(saidIn(played.facts)).toBe('one\ntwo')
    }))

  test('[DRV15] an interrupt ends a turn in which nothing comes', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const turn = played.say('[[say before]] [[hang]]')
      await played.heard('delta', 0, (fact) => fact.text.includes('before'))
      await played.agent.interrupt()
      expect(await turn).toEqual({ kind: 'interrupted' })
      expect(await played.say('[[say still here]]')).toMatchObject({ kind: 'answered' })
    }))

  test('[DRV16] an interrupt withdraws what is asked: the tool does not run, and an answer that comes later changes nothing', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const turn = played.say('[[tool Bash {"command":"touch ran"}]]')
      const { answer, signal } = await played.nextAsk()
      await played.agent.interrupt()
      expect(await turn).toEqual({ kind: 'interrupted' })
      expect(signal.aborted).toBe(true)
      answer({ kind: 'allow', rules: [] })
      expect(await played.say('[[say still here]]')).toMatchObject({ kind: 'answered' })
      expect(existsSync(join(place.workdir, 'ran'))).toBe(false)
    }))

  test('[DRV17] an interrupt ends the tool that runs', () =>
    withDriver(async (place, begin) => {
      const { played, tool } = await withTool(place, begin)
      await played.agent.interrupt()
      expect(await played.heard('turn.ended')).toMatchObject({ outcome: { kind: 'interrupted' } })
      await gone(tool)
      expect(isRunning(tool)).toBe(false)
    }))

  test.each([
    ['[[fail 529]]', 529, true],
    ['[[fail 500]]', 500, true],
    ['[[fail 429]]', 429, true],
    ['[[fail 401]]', 401, false],
    ['[[say before]] [[cut]]', undefined, true],
  ])('[DRV18] a model that cannot be asked is told as a failure: %s', (prompt, status, retry) =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      const outcome = await played.say(prompt)
      expect(outcome).toMatchObject({ kind: 'failed', retry })
      if (outcome.kind === 'failed') {
        expect(outcome.message).not.toBe('')
        if (status !== undefined && !lacks(place, 'told-status')) expect(outcome.status).toBe(status)
      }
      if (status !== undefined && retry && !lacks(place, 'told-retries'))
        expect(played.facts.find((fact) => fact.kind === 'retrying')).toMatchObject(
          lacks(place, 'told-status') ? {} : { status },
        )
      expect(await played.say('[[say still here]]')).toMatchObject({ kind: 'answered' })
    }),
  )

  test('[DRV19] an agent that dies is told as crashed, last of all; its tools die with it', () =>
    withDriver(async (place, begin) => {
      const { played, tool } = await withTool(place, begin)
      await place.crash(played)
      expect((await played.heard('ended')).reason).toBe('crashed')
      expect(played.facts.at(-1)?.kind).toBe('ended')
      expect(isRunning(tool)).toBe(false)
      await expectError(played.send('[[say anybody there?]]'), 'agent-gone')
      await played.agent.close()
      expect(played.facts.filter((fact) => fact.kind === 'ended')).toHaveLength(1)
    }))

  test('[DRV19] an agent that dies while it asks takes the question back, and a late yes runs nothing', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      await played.send('[[tool Bash {"command":"touch ran"}]]')
      const { answer, signal } = await played.nextAsk()
      await place.crash(played)
      await played.heard('ended')
      expect(signal.aborted).toBe(true)
      answer({ kind: 'allow', rules: [] })
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(existsSync(join(place.workdir, 'ran'))).toBe(false)
    }))

  test('[DRV20] an agent that is closed leaves no process, not even one that its tools put in the background', () =>
    withDriver(async (place, begin) => {
      const { played, tool } = await withTool(place, begin)
      const pids = played.agent.pids()
      expect(pids).toContain(tool.pid)
      await Promise.all([played.agent.close(), played.agent.close()])
      expect(pids.filter((pid) => findProcess(pid) !== undefined)).toEqual([])
      expect(findAgentProcesses(played.sessionId)).toEqual([])
      expect(played.facts.at(-1)).toMatchObject({ kind: 'ended', reason: 'closed' })
      await expectError(played.send('[[say anybody there?]]'), 'agent-gone')
    }))

  test('[DRV20] an agent that is closed while it asks does not run the tool', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      await played.send('[[tool Bash {"command":"touch ran"}]] [[say over]]')
      const { signal } = await played.nextAsk()
      await played.agent.close()
      expect(signal.aborted).toBe(true)
      expect(played.facts.at(-1)).toMatchObject({ kind: 'ended', reason: 'closed' })
      expect(existsSync(join(place.workdir, 'ran'))).toBe(false)
    }))

  test('[DRV20] a prompt can be sent right before the end, and what was said before is kept', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place)
      await played.send('[[slow 30]] [[say one two three four five six seven eight nine ten eleven twelve]]')
      await played.heard('delta', 0, (fact) => fact.text.includes('two'))
      await played.agent.close()
      const kept = Object.values(place.transcripts(played.agentId())).join('')
      expect(kept).toContain(lacks(place, 'kept-pieces') ? '[[slow 30]]' : 'one two')
    }))

  test('[DRV21] the agent sees the environment it is given, and nothing of ours', () =>
    withDriver(async (place, begin) => {
      const played = await begin(place, { env: { ...place.env, GIVEN_TO_THE_AGENT: 'yes' } })
      const turn = played.say('[[tool Bash {"command":"env | sort > seen.txt"}]]')
      ;(await played.nextAsk()).answer({ kind: 'allow', rules: [] })
      await turn
      expect(resultsIn(played.facts)).toHaveLength(1)
      const seen = readFileSync(join(place.workdir, 'seen.txt'), 'utf8')
      expect(seen).toContain('GIVEN_TO_THE_AGENT=yes')
      expect(seen).not.toContain('VITEST')
    }))
}

/** An agent whose tool runs: a process in the background that has nothing to do with its parent any more. */
async function withTool(
  place: DriverPlace,
  begin: (place: DriverPlace) => Promise<Played>,
): Promise<{ readonly played: Played; readonly tool: ProcessId }> {
  const played = await begin(place)
  const file = join(place.workdir, 'tool.pid')
  await played.send('[[tool Bash {"command":"echo $$ > tool.pid; sleep 300; true"}]]')
  ;(await played.nextAsk()).answer({ kind: 'allow', rules: [] })
  for (let waited = 0; !existsSync(file) || readFileSync(file, 'utf8') === ''; waited += 20) {
    if (waited > 20_000) throw new Error('the tool never ran')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const tool = findProcess(Number(readFileSync(file, 'utf8')))
  if (!tool) throw new Error('the tool is not running')
  return { played, tool }
}

async function gone(one: ProcessId): Promise<void> {
  for (let waited = 0; isRunning(one) && waited < 10_000; waited += 20) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
