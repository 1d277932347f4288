import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { maskSecrets } from '#app'
import { parseJson } from '#base'
import { openTempDir } from '#testing'
import { expect, test } from 'vitest'
import { openLogFile } from './log-file.ts'

test('[RED16] a log has no secrets, and nothing that could not be searched', async () => {
  const dir = await openTempDir()
  try {
    const secret = ['gh', 'p_', 'a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8'].join('')
    const path = join(dir.path, 'daemon.jsonl')
    const log = await openLogFile(path, { now: () => 0, mask: maskSecrets })
    log.log('warn', 'request.failed', { message: `no such file /tmp/${secret}`, count: 3 })
    await log.close()
    expect(parseJson(await readFile(path, 'utf8'))).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      level: 'warn',
      event: 'request.failed',
      message: 'no such file /tmp/[redacted:github-token]',
      count: 3,
    })
    const other = join(dir.path, 'other.jsonl')
    const mask = (): never => {
      throw new Error(secret)
    }
    const broken = await openLogFile(other, { now: () => 0, mask })
    broken.log('warn', 'request.failed', { message: `no such file /tmp/${secret}` })
    await broken.close()
    expect(parseJson(await readFile(other, 'utf8'))).toMatchObject({ message: '[left out]' })
  } finally {
    await dir.remove()
  }
})
