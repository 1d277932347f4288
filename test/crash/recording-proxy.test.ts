import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { list, number, object, parseJson, string } from '#base'
import { finishRecordings } from '#recorder'
import { openModelApi, openTempDir, runs, type ModelApi, type TempDir } from '#testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAIN } from '../mcp-process.ts'
import { freePort, readRecordings } from '../recorder/proxy-place.ts'

let temp: TempDir
let api: ModelApi

beforeAll(async () => {
  if (!existsSync(MAIN)) throw new Error('run `npm run build` first')
  temp = await openTempDir()
  api = await openModelApi(({ body }) => {
    const count = list(body, 'messages').length
    return [{ kind: 'text', text: `Answer ${String(count)} of some length.` }]
  })
})
afterAll(async () => {
  await api.close()
  await temp.remove()
})

/** An agent that asks and asks, until nobody answers. */
async function converse(url: string, name: string): Promise<void> {
  const messages: object[] = []
  const headers = { 'content-type': 'application/json', 'x-claude-code-session-id': name }
  for (let turn = 0; ; turn++) {
    messages.push({ role: 'user', content: `${name} asks ${String(turn)} ${'x'.repeat(turn * 50)}` })
    const body = JSON.stringify({ model: 'm', stream: true, tools: [{ name: 't' }], messages })
    const text = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body }).then((answer) =>
      answer.text(),
    )
    const pieces = [...text.matchAll(/"text_delta","text":("(?:[^"\\]|\\.)*")/gu)]
    messages.push({
      role: 'assistant',
      content: pieces.map(([, json = '""']) => String(parseJson(json))).join(''),
    })
  }
}

let count = 0

test('[PRX27] [D6.1] a proxy that is killed at any moment loses no turn that it has acknowledged', async () => {
  const property = fc.asyncProperty(
    fc.nat(25),
    fc.nat(40),
    fc.integer({ min: 1, max: 4 }),
    async (turns, wait, clients) => {
      const root = join(temp.path, String(++count))
      const workdir = join(root, 'work')
      mkdirSync(workdir, { recursive: true })
      const env = { PATH: process.env['PATH'] ?? '', HOME: root, THROUGHLINE_HOME: join(root, 'home') }
      const port = await freePort()
      const args = [
        MAIN,
        'record',
        '--serve',
        '--json',
        '--port',
        port,
        '--dir',
        workdir,
        '--upstream-anthropic',
        api.url,
      ]
      const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
      const ended = new Promise((resolve) => child.once('close', resolve))
      const acknowledged = new Map<string, number>()
      let url: string | undefined
      let told = 0
      createInterface({ input: child.stdout }).on('line', (line) => {
        const event = parseJson(line)
        url ??= string(event, 'ANTHROPIC_BASE_URL')
        const path = string(event, 'path')
        if (path !== undefined) told += 1
        if (path !== undefined) acknowledged.set(path, number(event, 'turns') ?? 0)
      })
      await expect.poll(() => url).toBeDefined()
      const talks = Array.from({ length: clients }, (_, at) =>
        converse(url ?? '', `client-${String(at)}`).catch(() => {}),
      )
      // Somewhere in the middle of what comes after so many turns.
      await expect.poll(() => told, { interval: 1 }).toBeGreaterThanOrEqual(turns)
      await sleep(wait)
      child.kill('SIGKILL')
      await ended
      await Promise.all(talks)

      await finishRecordings(workdir)
      for (const [path, least] of acknowledged) {
        const lines = readFileSync(path, 'utf8').split('\n')
        expect(lines.pop()).toBe('')
        const parsed = lines.map(parseJson)
        expect(parsed.every((line) => object(line, 'message') !== undefined)).toBe(true)
        expect(parsed.length).toBeGreaterThanOrEqual(least)
        // Each follows the one before, and none stands twice.
        expect(parsed.map((line) => string(line, 'parentUuid'))).toEqual([
          undefined,
          ...parsed.slice(0, -1).map((line) => string(line, 'uuid')),
        ])
        const said = parsed.map(
          (line) =>
            JSON.stringify(list(object(line, 'message'), 'content')) +
            String(string(object(line, 'message'), 'id')),
        )
        expect(new Set(said).size).toBe(said.length)
        expect(existsSync(join(path, '..', 'prompt.txt'))).toBe(true)
        expect(existsSync(join(path, '..', 'context.md'))).toBe(true)
      }
      expect(readRecordings(workdir).length).toBeLessThanOrEqual(clients)
    },
  )
  await fc.assert(property, runs(15))
}, 900_000)
