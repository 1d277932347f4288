import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { list, number, object, string } from '#base'
import { createLines, eventually, SESSION, toJsonl, writeTranscript } from '#testing'
import { ROUTES, type Route, type RouteName } from '#wire'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askOf, openTeamCliPlace, type TeamMachinePlace, type TeamPlace } from '../team-place.ts'

const HANG = { timeout: 60_000, interval: 200 }
/** Stands in everything that is private: what was said, names, folders, documents, what is asked. */
const PRIVATE = 'zanzibar'
/** What gives an empty list for an id that nobody has. */
const EMPTY: readonly string[] = ['audit', 'wakeUps']
/** What would end or log out the daemon that is asked. */
const LEFT_OUT: readonly RouteName[] = ['stop', 'logout']

describe('somebody else in the team', () => {
  let place: TeamPlace
  let ada: TeamMachinePlace
  let bob: TeamMachinePlace
  /** What has an id, on the machine that it is private to. */
  let things: readonly string[]

  beforeAll(async () => {
    place = await openTeamCliPlace()
    ada = place.machine('ada-desk')
    bob = place.machine('bob-desk')
    const workdir = join(ada.path, `${PRIVATE}-shop`)
    mkdirSync(workdir, { recursive: true })
    const make = createLines({ cwd: workdir })
    const lines = [make.prompt(`Go to ${PRIVATE}.`), make.reply([{ type: 'text', text: `In ${PRIVATE}.` }])]
    await writeTranscript(ada.claudeDir, toJsonl(lines))
    await ada.json(['team', 'init', '-', '--as', 'ada', '--machine', `${PRIVATE}-desk`], place.owner)
    await place.admit(bob, ada, ['bob'])
    for (const machine of [ada, bob]) await machine.json(['start', '--no-open'])
    await ada.json(['rename', SESSION, `Off to ${PRIVATE}`])
    const remembered = await ada.json(['remember', `Boats go to ${PRIVATE}.`, '--workdir', workdir])
    const ask = askOf(ada)
    const live = crypto.randomUUID()
    const prompt = {
      id: 'p1',
      blocks: [{ kind: 'text', text: `[[tool Bash {"command":"echo ${PRIVATE}"}]]` }],
    }
    await ask('/api/sessions', {
      method: 'POST',
      body: JSON.stringify({ agent: 'scripted', workdir, sessionId: live, prompt, wakeUp: false }),
    })
    const open = async (): Promise<readonly unknown[]> =>
      list(await (await ask('/api/attentions')).json(), 'attentions')
    await eventually(async () => {
      if ((await open()).length !== 1) throw new Error('nothing is asked yet')
    })
    // All of it has left the machine.
    await eventually(async () => {
      if (!(await isShipped(ada))) throw new Error('not all has left the machine yet')
    })
    const [attention] = await open()
    things = [
      SESSION,
      live,
      string(attention, 'id') ?? '',
      string(object(remembered, 'document'), 'id') ?? '',
    ]
    if (things.includes('')) throw new Error('something has no id')
  })
  afterAll(async () => {
    const ask = askOf(ada)
    await ask(`/api/sessions/${things?.[1] ?? ''}/end`, { method: 'POST', body: '{}' })
    await place?.close()
  })

  async function isShipped(machine: TeamMachinePlace): Promise<boolean> {
    const status: unknown = await (await askOf(machine)('/api/team')).json()
    return string(status, 'state') === 'connected' && number(object(status, 'outbox'), 'waiting') === 0
  }

  const cases = Object.entries(ROUTES).filter(([name]) => !LEFT_OUT.some((left) => left === name))

  test.each(cases)('[ATT56] %s gives nothing of what is private to another', async (name, route) => {
    const ask = askOf(bob)
    for (const thing of things) {
      for (const request of toRequests(route, thing)) {
        const answer = await ask(request.path, request.init)
        const text = await answer.text()
        expect({ path: request.path, text }).not.toMatchObject({
          text: expect.stringContaining(PRIVATE),
        })
        if (!EMPTY.includes(name) && /^\/api\/(?:sessions|attentions|documents)\/:id/u.test(route.path)) {
          expect({ path: request.path, status: answer.status, text }).toMatchObject({
            status: expect.toBeOneOf([400, 403, 404, 409, 410, 422]),
          })
        }
      }
    }
  })

  test('[ATT56] what is told to those who listen, and found by the command line, has nothing of it either', async () => {
    for (const args of [
      ['ls'],
      ['board'],
      ['search', PRIVATE],
      ['documents'],
      ['usage'],
      ['team', 'status'],
      ['team', 'people'],
      ['team', 'machines'],
      ['team', 'shares'],
    ]) {
      const { out } = await bob.run([...args, '--json'])
      const shown = args.includes(PRIVATE) ? out.replace(`"${PRIVATE}"`, '') : out
      expect({ args, shown }).not.toMatchObject({ shown: expect.stringContaining(PRIVATE) })
    }
    for (const thing of things) expect((await bob.run(['show', thing])).code).toBe(1)
    // And all of it is there for the other machines of the same person.
    const laptop = place.machine('laptop')
    await place.admit(laptop, ada, ['ada'])
    await laptop.json(['start', '--no-open'])
    await expect
      .poll(async () => JSON.stringify(await laptop.json(['ls'])), HANG)
      .toContain(`Off to ${PRIVATE}`)
  })
})

/** Every way to ask a route for a thing: in its path, in each part of its query and of its body. */
function toRequests(
  { method, path, query = [], body = [] }: Route,
  thing: string,
): readonly { readonly path: string; readonly init: RequestInit }[] {
  const filled = path.replace(/:(?:id|query)/u, encodeURIComponent(thing))
  const values = query.filter(({ kind }) => kind === 'text').map(({ name }) => name)
  const searches = [
    '',
    ...values.flatMap((name) => [
      `?${name}=${encodeURIComponent(thing)}`,
      ...(name === 'q' ? [`?q=${PRIVATE.slice(0, 4)}*`, `?q=`] : []),
    ]),
  ]
  if (method === 'GET') return searches.map((search) => ({ path: filled + search, init: { method } }))
  const whole = Object.fromEntries(body.map(({ name, kind }) => [name, valueOf(kind, thing)]))
  return [{}, whole].map((given) => ({ path: filled, init: { method, body: JSON.stringify(given) } }))
}

function valueOf(kind: string, thing: string): unknown {
  switch (kind) {
    case 'number':
      return 1
    case 'true or false':
    case 'flag':
      return true
    case 'object':
      return { id: thing, sessionId: thing }
    case 'list':
      return [thing]
    default:
      return thing
  }
}
