import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openTempDir } from '#testing'
import { findClaude } from './executable.ts'

test("[DRV33] the first program called claude on a person's path is taken, but none of the project's", async () => {
  const dir = await openTempDir()
  const [mine, project, plain, folder] = ['mine', 'project', 'plain', 'folder'].map((name) =>
    join(dir.path, name),
  )
  if (mine === undefined || project === undefined || plain === undefined || folder === undefined) return
  for (const path of [mine, join(project, 'node_modules/.bin'), plain, join(folder, 'claude')])
    mkdirSync(path, { recursive: true })
  for (const path of [mine, join(project, 'node_modules/.bin'), plain])
    writeFileSync(join(path, 'claude'), '')
  chmodSync(join(mine, 'claude'), 0o755)
  chmodSync(join(project, 'node_modules/.bin/claude'), 0o755)
  const path = ['', '.', 'relative', folder, plain, join(project, 'node_modules/.bin'), mine].join(':')
  expect(findClaude(path, project)).toBe(join(mine, 'claude'))
  expect(findClaude(path, mine)).toBe(join(project, 'node_modules/.bin/claude'))
  expect(findClaude('', project)).toBeUndefined()
  await dir.remove()
})
