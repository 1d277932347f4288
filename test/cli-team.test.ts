import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { list, object, parseJson, string } from '#base'
import { createLines, SESSION, toJsonl, writeTranscript } from '#testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTeamCliPlace, type TeamMachinePlace, type TeamPlace } from './team-place.ts'

const HANG = { timeout: 60_000, interval: 200 }

let place: TeamPlace
let desk: TeamMachinePlace
let laptop: TeamMachinePlace
let colleague: TeamMachinePlace
beforeAll(async () => {
  place = await openTeamCliPlace()
  desk = place.machine('desk')
  laptop = place.machine('laptop')
  colleague = place.machine('colleague')
  const make = createLines({ cwd: join(desk.path, 'shop') })
  const lines = [
    make.prompt('Paint the shop green.'),
    make.reply([{ type: 'text', text: 'Done: it is green.' }]),
  ]
  await writeTranscript(desk.claudeDir, toJsonl(lines))
})
afterAll(() => place?.close())

const ids = async (machine: TeamMachinePlace): Promise<readonly unknown[]> =>
  list(await machine.json(['ls']), 'sessions').map((session) => string(session, 'id'))

test('[TEA100] a machine that is in no team says so, and how to begin', async () => {
  const alone = await desk.run(['team'])
  expect(alone).toMatchObject({ code: 0 })
  expect(alone.out).toContain('in no team')
  expect(alone.err).toContain('team init')
  const refused = await desk.run(['team', 'people'])
  expect(refused.code).toBe(1)
  expect(refused.err).toContain('next: ')
})

test('[TEA100] init begins a team, its settings stay as they were, and no file but one for its owner has the password', async () => {
  writeFileSync(join(desk.home, 'config.json'), '{"wakeUp":{"on":false}}', { mode: 0o644 })
  const said = await desk.run(
    ['team', 'init', '-', '--team', 'harbour', '--as', 'ada', '--machine', 'desk'],
    place.owner,
  )
  expect(said.err).not.toContain('error')
  expect(said.out).toBe('ada (admin) on desk is in harbour.\n')
  const path = join(desk.home, 'config.json')
  const settings = parseJson(readFileSync(path, 'utf8'))
  expect(object(settings, 'wakeUp')).toEqual({ on: false })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  // The owner's password was used once.
  expect(readFileSync(path, 'utf8')).not.toContain(new URL(place.owner).password)
  const again = await desk.run(['team', 'init', '-'], place.owner)
  expect(again).toMatchObject({ code: 2 })
  expect(again.err).toContain('team leave')
})

test('[TEA101] an invitation is shown once and works once; one that is wrong changes nothing', async () => {
  const { out, err } = await desk.run(['team', 'invite', 'ada'])
  expect(out).toMatch(/^postgres:\/\//)
  expect(err).toContain('good once')
  const wrong = await laptop.run(['team', 'join', '-'], out.replace(/:[^:@/]+@/, ':wrong@'))
  expect(wrong.code).toBe(1)
  expect(wrong.err).not.toContain(':wrong@')
  expect(existsSync(join(laptop.home, 'config.json'))).toBe(false)
  expect(await laptop.json(['team', 'join', '-', '--machine', 'laptop'], out)).toMatchObject({
    person: 'ada',
    machine: 'laptop',
    team: 'harbour',
  })
  const third = place.machine('third')
  expect((await third.run(['team', 'join', '-'], out)).code).toBe(1)
  await place.admit(colleague, desk, ['bob'])
  const people = list(await desk.json(['team', 'people']), 'people')
  expect(people.map((one) => [string(one, 'name'), string(one, 'role')])).toEqual([
    ['ada', 'admin'],
    ['bob', 'member'],
  ])
  expect((await colleague.run(['team', 'invite', 'carol'])).code).toBe(1)
  // Only the owner of the database changes its tables; that they are as they should be is no reason to complain.
  expect(await desk.json(['team', 'update', '-'], place.owner)).toEqual({ updated: true })
  expect((await desk.run(['team', 'update', '-'], out)).code).toBe(1)
})

test('[TEA102] what is on one machine of a person is listed, found and shown on the other, with where it is; others see it when it is shared', async () => {
  for (const machine of [desk, laptop, colleague]) await machine.json(['start', '--no-open'])
  await expect.poll(() => ids(laptop), HANG).toEqual([SESSION])
  const table = await laptop.run(['ls'])
  expect(table.out).toMatch(/name\s+on\s+workdir/)
  expect(table.out).toMatch(/Paint the shop green\.\s+desk/)
  expect((await laptop.run(['show', SESSION])).out).toContain('Done: it is green.')
  await expect
    .poll(async () => list(await laptop.json(['search', 'green']), 'hits').length, HANG)
    .toBeGreaterThan(0)
  expect(await ids(colleague)).toEqual([])
  await desk.json(['team', 'share', '--workdir', join(desk.path, 'shop')])
  await expect.poll(() => ids(colleague), HANG).toEqual([SESSION])
  expect((await colleague.run(['ls'])).out).toContain('ada/desk')
  expect((await desk.run(['team', 'shares'])).out).toContain('everybody in the team')
  await desk.json(['team', 'unshare', '--workdir', join(desk.path, 'shop')])
  await expect.poll(() => ids(colleague), HANG).toEqual([])
  expect((await colleague.run(['show', SESSION])).code).toBe(1)
  const unclear = await desk.run(['team', 'share'])
  expect(unclear).toMatchObject({ code: 2 })
})

test('[TEA103] status says who one is, what waits and what stays; a machine is revoked by its name; leaving removes what was of others', async () => {
  const { out } = await desk.run(['team'])
  expect(out).toContain('harbour · ada (admin) on desk')
  expect(out).toContain('connected')
  expect(await laptop.json(['team', 'status'])).toMatchObject({ daemon: true, state: 'connected' })
  const machines = list(await desk.json(['team', 'machines']), 'machines')
  expect(machines.map((one) => string(one, 'machine'))).toEqual(
    expect.arrayContaining(['desk', 'laptop', 'colleague']),
  )
  await desk.json(['team', 'revoke', 'colleague'])
  await expect
    .poll(async () => string(await colleague.json(['team', 'status']).catch(() => undefined), 'state'), HANG)
    .not.toBe('connected')
  expect((await colleague.run(['team', 'people'])).code).toBe(1)
  expect((await laptop.run(['team', 'leave'])).code).toBe(2)
  expect(await laptop.json(['team', 'leave', '--yes'])).toEqual({ left: true, told: true })
  expect(readFileSync(join(laptop.home, 'config.json'), 'utf8')).not.toContain('store')
  expect(existsSync(join(laptop.home, 'team'))).toBe(false)
  await expect.poll(() => ids(laptop), HANG).toEqual([])
})
