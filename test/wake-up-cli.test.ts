import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { list, object, parseJson, string } from '#base'
import { openDocuments } from '#memory'
import { parseWakeUp } from '#model'
import { createLines, toJsonl, writeTranscript } from '#testing'
import { openCliPlace, type CliPlace } from './cli-live-place.ts'

describe('`throughline wake-up`', () => {
  let place: CliPlace
  const home = (): string => join(place.path, 'home')

  beforeAll(async () => {
    place = await openCliPlace()
  })
  afterAll(async () => await place?.close())

  test('[WAK30] says so when there is nothing to tell', async () => {
    const { code, out, err } = await place.run(['wake-up', '--receipt'])
    expect([code, out]).toEqual([0, ''])
    expect(err).toContain('There is nothing to tell')
  })

  test('[WAK30] prints what a session would be told, as it is sent, to be read, or with its receipt; by itself and by a daemon', async () => {
    const lines = createLines({ cwd: place.workdir })
    const said = [
      lines.prompt('Where is the \u001b[31mharbour?'),
      lines.reply([{ type: 'text', text: 'In the bay.' }]),
    ]
    await writeTranscript(join(place.path, 'claude'), toJsonl(said))
    const documents = await openDocuments({ home: home(), now: Date.now, mintId: randomUUID })
    const { document } = await documents.put({ type: 'learning', content: 'Boats float.' }, { by: 'test' })
    await documents.put(
      { type: 'learning', id: 'held-1', content: 'Held.', quarantine: 'copied' },
      { by: 'test' },
    )
    await documents.close()
    for (const isServed of [false, true]) {
      if (isServed) expect((await place.run(['start', '--no-open'])).code).toBe(0)
      const { code, out, err } = await place.run(['wake-up', '--receipt'])
      expect(code).toBe(0)
      expect(parseWakeUp(out.trimEnd())?.transcript?.lines).toHaveLength(2)
      expect(out).toContain('- Boats float.')
      expect(out).not.toContain('\u001b')
      expect(err).toContain(`in: ${document.id} (knowledge`)
      expect(err).toContain('out: held-1 (knowledge): copied')
      const md = await place.run([
        'wake-up',
        '--format',
        'md',
        '--workdir',
        place.workdir,
        '--agent',
        'codex',
      ])
      expect(md.out).toContain('## Knowledge\n\n- Boats float.')
      const json = parseJson((await place.run(['wake-up', '--json', '--prompt', 'boats'])).out)
      expect(string(json, 'text')).toContain('Boats float.')
      expect(list(object(json, 'receipt'), 'documents')).toHaveLength(1)
    }
    expect(existsSync(join(home(), 'wake-ups'))).toBe(false)
    const wrong = await place.run(['wake-up', '--format', 'pdf'])
    expect(wrong.code).toBe(2)
  })
})
