import { number, string } from '#base'
import { connect, login } from '#client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openUserPlace, type UserPlace } from './user-place.ts'

let place: UserPlace
beforeEach(async () => {
  place = await openUserPlace()
})
afterEach(() => place.remove())

test('[CLI46] without a browser on the machine, what is printed leads into the app', async () => {
  const started = await place.run([])
  expect(started.code).toBe(0)
  expect(started.err).toContain('next: `throughline open` prints a link')
  const url = `http://127.0.0.1:${number(await place.json(['status']), 'port')}`
  for (const command of ['open', 'pair']) {
    const { code, out, err } = await place.run([command])
    expect(code).toBe(0)
    expect(err).toContain('within a minute; it works once')
    expect(err).toMatch(/ssh -L \d+:127\.0\.0\.1:\d+ /)
    expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{20,}\n$/)
    const [address, used] = out.trim().split('/#code=')
    expect(address).toBe(url)
    const token = await login({ url, code: used ?? '', label: 'browser' })
    const device = await connect({ url, token })
    expect((await device.health()).sessions.total).toBe(0)
    await device.close()
    const shown = await place.json([command])
    expect(string(shown, 'link')).toBe(`${url}/#code=${string(shown, 'code')}`)
  }
})
