import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RemoteThroughline } from '#client'
import type { Block, NativeAgent, SessionView } from '#model'
import { AGENTS_HERE } from '../opencode-program.ts'
import { answer, attentionOf, openLivePlace, say, shell, until, type LivePlace } from './live-place.ts'

const OTHERS = AGENTS_HERE.filter((agent) => agent !== 'claude')
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** What real agents can do beside talking, in a real host of a real daemon; only the model is ours. */
describe('what an agent can do, and says that it can', () => {
  let place: LivePlace
  let device: RemoteThroughline

  beforeAll(async () => {
    place = await openLivePlace()
    device = await place.connect()
  })
  afterAll(async () => await place?.close())

  /** What the model was asked last, as text. */
  function lastRequest(): string {
    return JSON.stringify(place.api.requests.filter(({ purpose }) => purpose === 'conversation').at(-1)?.body)
  }

  async function begin(agent: NativeAgent): Promise<string> {
    const prompt = say('[[say ready]]')
    const { sessionId } = await device.live.start({ agent, workdir: place.workdir, prompt })
    await until(device, sessionId, ({ turn }) => turn?.outcome !== undefined)
    return sessionId
  }

  async function finish(
    sessionId: string,
    prompt: { readonly id: string; readonly blocks: readonly Block[] },
  ): Promise<SessionView> {
    await device.live.prompt(sessionId, prompt)
    return await until(
      device,
      sessionId,
      ({ turn }) => turn?.promptId === prompt.id && turn.outcome !== undefined,
    )
  }

  test.each(AGENTS_HERE)(
    '[DRV8] [LVS33] %s hears the words of a denial, and what was denied does not run',
    async (agent) => {
      const sessionId = await begin(agent)
      await device.live.prompt(sessionId, say(shell('touch denied')))
      const attention = await attentionOf(device, sessionId)
      const words = `[[say understood]] Use the quince instead, ${agent}.`
      await answer(device, attention, { kind: 'deny', words })
      await until(
        device,
        sessionId,
        ({ state, attentions }) =>
          state.state === 'idle' && attentions.length === 0 && lastRequest().includes(words),
      )
      expect(existsSync(join(place.workdir, 'denied'))).toBe(false)
      // The same answer again, from somebody whose acknowledgement was lost, is not another prompt.
      await answer(device, attention, { kind: 'deny', words })
      await finish(sessionId, say('[[say over]]'))
      expect(lastRequest().split(words)).toHaveLength(2)
      await device.live.end(sessionId)
    },
  )

  test.each(AGENTS_HERE)(
    '[DRV45] an image and a text file in one prompt both reach the model of %s',
    async (agent) => {
      const sessionId = await begin(agent)
      const blocks: readonly Block[] = [
        { kind: 'text', text: '[[say seen]]' },
        { kind: 'image', source: { kind: 'base64', mediaType: 'image/png', data: PIXEL } },
        {
          kind: 'document',
          title: 'notes.txt',
          source: { kind: 'text', mediaType: 'text/plain', text: 'a medlar' },
        },
      ]
      await finish(sessionId, { id: randomUUID(), blocks })
      expect([lastRequest().includes(PIXEL), lastRequest().includes('a medlar')]).toEqual([true, true])
      await device.live.end(sessionId)
    },
  )

  test.each(OTHERS)(
    '[DRV46] [DRV63] %s is put on one of the models that it offers, and on no other',
    async (agent) => {
      const sessionId = await begin(agent)
      const { models = [], modes } = await device.live.view(sessionId)
      const other = models.find(({ id }) =>
        /^(?:gemini-2\.5-pro|gpt-6\.1-sol|scripted\/another-model)$/.test(id),
      )
      expect(other).toBeDefined()
      await device.live.setModel(sessionId, other?.id ?? '')
      await until(device, sessionId, ({ model }) => model === other?.id)
      await finish(sessionId, say('[[say chosen]]'))
      const asked = place.api.requests.filter(({ purpose }) => purpose === 'conversation').at(-1)
      const named = `${asked?.path ?? ''} ${String(asked?.body['model'])}`
      expect(named).toContain(other?.id.split('/').at(-1))
      await expect(device.live.setModel(sessionId, 'no-such-model')).rejects.toMatchObject({
        code: 'request-invalid',
        message: expect.stringContaining('no model called no-such-model'),
        hint: expect.stringContaining(models[0]?.id ?? '?'),
      })
      expect(modes).toEqual(['plan', 'default'])
      await device.live.end(sessionId)
    },
  )
})
