import { defineConfig } from 'vite'

/** The web app: `npm run build` writes it to dist/site, which the daemon serves. */
export default defineConfig({
  root: 'src/web',
  base: './',
  publicDir: 'public',
  resolve: { conditions: ['@throughline/source', 'module', 'browser', 'production'] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../dist/site',
    emptyOutDir: true,
    target: 'es2022',
    // The page allows no script without its nonce, and nothing that is written into it.
    modulePreload: false,
    assetsInlineLimit: 0,
    sourcemap: false,
    reportCompressedSize: false,
    // What the page needs at once is one file: each further one is a way to the daemon and back before anything shows.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'shell', tags: ['$initial'] }] } },
      // Putting tables together does nothing by itself: those of routes that nobody asks for stay out.
      treeshake: {
        propertyReadSideEffects: false,
        moduleSideEffects: [{ test: /src.(base|model|wire|client|render)./, sideEffects: false }],
      },
    },
  },
  worker: { format: 'es' },
})
