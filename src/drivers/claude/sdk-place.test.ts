import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { openTempDir } from '#testing'
import { hasSdk, installCommand } from './sdk-place.ts'

test('[RUN44] the Agent SDK is to be installed where this Throughline finds it: globally, in a project, in a checkout', async () => {
  const temp = await openTempDir()
  onTestFinished(async () => await temp.remove())
  const moduleIn = (folder: string): string => {
    mkdirSync(folder, { recursive: true })
    return pathToFileURL(join(folder, 'throughline.js')).href
  }
  const sdk = '@anthropic-ai/claude-agent-sdk'
  const own = join(temp.path, 'opt/lib/node_modules/throughline/dist/bin')
  expect(installCommand(moduleIn(own))).toBe(`npm install -g --prefix ${join(temp.path, 'opt')} ${sdk}`)
  expect(hasSdk(moduleIn(own))).toBe(false)
  mkdirSync(join(temp.path, 'opt/lib/node_modules', sdk), { recursive: true })
  expect(hasSdk(moduleIn(own))).toBe(true)

  const beside = pathToFileURL(
    join(dirname(dirname(process.execPath)), 'lib/node_modules/throughline/dist/bin/throughline.js'),
  ).href
  expect(installCommand(beside)).toBe(`npm install -g ${sdk}`)

  const project = join(temp.path, "a person's project")
  const inside = moduleIn(join(project, 'node_modules/throughline/dist/bin'))
  writeFileSync(join(project, 'package.json'), '{}')
  expect(installCommand(inside)).toBe(
    `npm install --prefix '${project.replace("'", String.raw`'\''`)}' ${sdk}`,
  )
  expect(installCommand(moduleIn(join(temp.path, 'checkout/dist/bin')))).toBe(`npm install ${sdk}`)
})
