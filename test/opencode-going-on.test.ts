import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { openThroughline, type LocalThroughline } from '#app'
import { createLines, expectError, openTempDir, SESSION, toJsonl, writeTranscript } from '#testing'
import { expect, test } from 'vitest'
import { openNativePlace, PROGRAMS } from './native-place.ts'
import { hasOpencode } from './opencode-program.ts'

/** What stands in for opencode: it takes a session in as the files that older versions kept, and notes what it was asked. */
const TAKES_IN = `
const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const data = join(process.env.XDG_DATA_HOME, 'opencode', 'storage')
appendFileSync(join(data, '../../asked'), process.argv.slice(2).join(' ') + '\\n')
const put = (place, value) => {
  mkdirSync(dirname(join(data, place)), { recursive: true })
  writeFileSync(join(data, place), JSON.stringify(value))
}
const { info, messages } = JSON.parse(readFileSync(process.argv[3], 'utf8'))
put('session/global/' + info.id + '.json', info)
for (const { info: message, parts } of messages) {
  put('message/' + info.id + '/' + message.id + '.json', message)
  for (const part of parts) put('part/' + message.id + '/' + part.id + '.json', part)
}
`

/** A session of Claude Code in a folder. */
async function writeSession(claudeDir: string, workdir: string): Promise<void> {
  const make = createLines({ cwd: workdir })
  const lines = [
    make.prompt('where is the heliotrope'),
    make.reply([{ type: 'text', text: 'In the garden.' }]),
  ]
  await writeTranscript(claudeDir, toJsonl(lines))
}

async function listed(throughline: LocalThroughline): Promise<readonly string[]> {
  return (await throughline.list()).sessions.map(({ agent }) => agent).toSorted()
}

test('[NAT12] [NAT13] a session that opencode did not take in is taken in the next time, with the model that is set up there', async () => {
  const dir = await openTempDir()
  const root = realpathSync(dir.path)
  const [work, bin, asked] = [join(root, 'work'), join(root, 'bin'), join(root, 'asked')]
  for (const folder of [work, bin, join(root, 'opencode')]) mkdirSync(folder)
  await writeSession(join(root, 'claude'), work)
  writeFileSync(join(work, 'opencode.json'), '{"model":"router/some/model"}')
  const throughline = await openThroughline({
    env: {
      HOME: root,
      PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
      THROUGHLINE_HOME: join(root, 'home'),
      CLAUDE_CONFIG_DIR: join(root, 'claude'),
      XDG_DATA_HOME: root,
    },
  })
  const become = (script: string): void => {
    writeFileSync(join(bin, 'opencode'), `#!${process.execPath}\n${script}\n`)
    chmodSync(join(bin, 'opencode'), 0o755)
  }
  try {
    become("console.error('the database is locked'); process.exit(1)")
    const error = await expectError(
      throughline.restoring.convert(SESSION, { to: 'opencode' }),
      'driver-unavailable',
    )
    expect(error.hint).toContain('the database is locked')
    become(TAKES_IN)
    const { sessionId } = await throughline.restoring.convert(SESSION, { to: 'opencode' })
    const path = join(root, 'home', 'native', `${sessionId}.json`)
    expect(readFileSync(asked, 'utf8')).toBe(`import ${path}\n`)
    expect(readFileSync(path, 'utf8')).toContain('"model":{"providerID":"router","modelID":"some/model"}')
    expect((await throughline.restoring.lineage(SESSION)).to).toMatchObject([
      { sessionId, kind: 'converted' },
    ])
  } finally {
    await throughline.close()
    await dir.remove()
  }
})

test.skipIf(process.env['RUNS'] !== 'full' || !hasOpencode)(
  '[NAT12] [NAT13] [CPY1] [CPY2] in the real opencode it goes on with the model that is set up there, and to take it in again changes nothing',
  async () => {
    const place = await openNativePlace()
    const home = join(place.opencodeData, '../../..')
    await writeSession(place.roots.claude, place.workdir)
    const throughline = await openThroughline({
      env: {
        HOME: home,
        PATH: `${dirname(PROGRAMS.opencode[0] ?? '')}${delimiter}${process.env['PATH'] ?? ''}`,
        THROUGHLINE_HOME: join(home, 'throughline'),
        CLAUDE_CONFIG_DIR: place.roots.claude,
        CODEX_HOME: place.roots.codex,
        GEMINI_CLI_HOME: home,
        XDG_DATA_HOME: join(home, '.local/share'),
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      },
    })
    try {
      const { sessionId } = await throughline.restoring.convert(SESSION, { to: 'opencode' })
      expect(await listed(throughline)).toEqual(['claude'])
      expect((await throughline.get(sessionId)).copiedFrom).toMatchObject({ id: SESSION, here: true })
      const { code } = await place.run('opencode', ['run', '-s', sessionId, 'and the peony'])
      expect([code, place.api.requests.length > 0]).toEqual([0, true])
      expect(JSON.stringify(place.api.requests.at(-1)?.body)).toContain('In the garden.')
      expect(await listed(throughline)).toEqual(['claude', 'opencode'])
      const { hits } = await throughline.search({ q: 'heliotrope' })
      expect(hits.map(({ session }) => session.id)).toEqual([SESSION])
      const before = await throughline.get(sessionId)
      expect((await throughline.restoring.convert(SESSION, { to: 'opencode' })).sessionId).toBe(sessionId)
      expect(await throughline.get(sessionId)).toEqual(before)
    } finally {
      await throughline.close()
      await place.close()
    }
  },
)
