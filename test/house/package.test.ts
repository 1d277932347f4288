import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { promisify } from 'node:util'
import { list, parseJson, string } from '#base'
import { openTempDir, type TempDir } from '#testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDoors } from '../../scripts/doors.mjs'
import { root } from './source-file.ts'

const run = promisify(execFile)

describe('the package as npm would publish it', () => {
  let temp: TempDir
  let unpacked: string
  let files: readonly string[]

  beforeAll(async () => {
    if (!existsSync(join(root, 'dist/bin/throughline.js'))) throw new Error('run `npm run build` first')
    temp = await openTempDir()
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', temp.path]
    const { stdout } = await run('npm', pack, { cwd: root })
    const packed: unknown = parseJson(stdout)
    const tarball = string(Array.isArray(packed) ? packed[0] : undefined, 'filename') ?? ''
    files = (list(Array.isArray(packed) ? packed[0] : undefined, 'files') ?? []).flatMap(
      (file) => string(file, 'path') ?? [],
    )
    unpacked = join(temp.path, 'node_modules/throughline')
    await mkdir(unpacked, { recursive: true })
    await run('tar', ['-xzf', join(temp.path, tarball), '-C', unpacked, '--strip-components=1'])
    await symlink(join(root, 'node_modules/citty'), join(temp.path, 'node_modules/citty'))
  })
  afterAll(() => temp?.remove())

  test('[PACK1] it holds what was built and its sources, and nothing that only we need', () => {
    const allowed =
      /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md|dist\/.+\.(?:js|d\.ts)(?:\.map)?|dist\/site\/.+|src\/.+\.ts)$/
    const unwanted = /\.test\.|(?:^|\/)(?:testing|fixtures|bench|test)\/|tsconfig|tsbuildinfo/
    expect(files.filter((path) => !allowed.test(path) || unwanted.test(path))).toEqual([])
    expect(files).toEqual(
      expect.arrayContaining([
        'package.json',
        'dist/bin/throughline.js',
        'dist/bin/index-worker.js',
        'dist/app/index.d.ts',
        'dist/site/index.html',
      ]),
    )
  })

  test('[PACK1] everything built has its source: nothing of an older build is left', () => {
    const sources = new Set(files.filter((path) => path.startsWith('src/')))
    const stale = files.filter((path) => {
      // The bundle and the site are made anew, all of them, by every build.
      const built = /^dist\/(?!bin\/|site\/)(.+)\.js$/.exec(path)?.[1]
      return built !== undefined && !sources.has(`src/${built}.ts`)
    })
    expect(stale, 'remove dist and run npm run build').toEqual([])
  })

  test('[PACK2] unpacked, the command runs and every street door opens', async () => {
    const { version, bin } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'))
    const told = await run(process.execPath, [join(unpacked, bin.throughline), '--version'], {
      cwd: temp.path,
    })
    expect(told.stdout).toBe(`${version}\n`)

    const doors = readDoors().map(({ specifier, names }) => ({
      specifier,
      values: names.filter(({ kind }) => kind === 'value').map(({ name }) => name),
    }))
    const code = `
      const doors = []
      for (const specifier of ${JSON.stringify(doors.map(({ specifier }) => specifier))}) {
        doors.push({ specifier, values: Object.keys(await import(specifier)).sort() })
      }
      process.stdout.write(JSON.stringify(doors))`
    const opened = await run(process.execPath, ['--input-type=module', '-e', code], { cwd: temp.path })
    expect(JSON.parse(opened.stdout)).toEqual(doors)
  })

  test('[PACK2] its sources can be stepped into: every source map finds its file', async () => {
    const maps = (await readdir(join(unpacked, 'dist'), { recursive: true })).filter((path) =>
      path.endsWith('.js.map'),
    )
    const lost = maps.flatMap((map) => {
      const folder = join(unpacked, 'dist', map.split(sep).slice(0, -1).join(sep))
      const sources = list(parseJson(readFileSync(join(unpacked, 'dist', map), 'utf8')), 'sources') ?? []
      return sources
        .filter((source) => !existsSync(join(folder, String(source))))
        .map((source) => `${map}: ${String(source)}`)
    })
    expect(lost).toEqual([])
  })
})
