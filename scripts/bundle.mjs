import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

// The command in a few files instead of two hundred: finding, reading and linking that many takes longer than a list
// does. Third parties stay where they are. See docs/decisions/0013.
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = join(root, 'dist', 'bin')
rmSync(bin, { recursive: true, force: true })
const bundle = await rolldown({
  input: {
    throughline: join(root, 'dist/cli/entry.js'),
    main: join(root, 'dist/cli/main.js'),
    'index-worker': join(root, 'dist/ingest/index-worker.js'),
    'team-feed-worker': join(root, 'dist/app/team-feed-worker.js'),
    'mask-worker': join(root, 'dist/app/mask-worker.js'),
  },
  platform: 'node',
  // Modules here only define things: one that nobody asks anything of need not be loaded.
  treeshake: { moduleSideEffects: false },
  external: (id) => !id.startsWith('.') && !id.startsWith('/') && !id.startsWith('#'),
})
await bundle.write({
  dir: bin,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  minify: false,
  codeSplitting: { groups: [{ name: 'file-guard', test: /ingest\/file-guard/ }] },
})
await bundle.close()

// The hook is started for every question of an agent, the host for every session, the last one for every question of
// Entire: one file each, with nothing in it that it does not use.
for (const [name, main] of [
  ['hook', 'dist/cli/hook-main.js'],
  ['host', 'dist/live/host-main.js'],
  ['entire-agent-throughline', 'dist/cli/entire-agent-main.js'],
]) {
  const alone = await rolldown({
    input: join(root, main),
    platform: 'node',
    treeshake: { moduleSideEffects: false },
    external: (id) => !id.startsWith('.') && !id.startsWith('/') && !id.startsWith('#'),
  })
  await alone.write({ file: join(bin, `${name}.js`), format: 'esm', minify: false, codeSplitting: false })
  await alone.close()
}
