import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { UNNAMED_HOME } from './test/unnamed-home.ts'

const HANG_MS = 300_000
const conditions = ['@throughline/source', 'module', 'node', 'development|production']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Time limits only end what hangs. They are far above what a test takes beside a busy core, and no test has a
    // shorter one of its own: how fast something is, `npm run bench` measures.
    expect: { poll: { timeout: 60_000 } },
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    env: {
      THROUGHLINE_HOME: UNNAMED_HOME,
      // Sessions of whoever runs the tests are none of their business.
      CODEX_HOME: join(UNNAMED_HOME, 'codex'),
      GEMINI_CLI_HOME: UNNAMED_HOME,
      XDG_DATA_HOME: join(UNNAMED_HOME, 'data'),
    },
    globalSetup: ['test/unnamed-home.ts'],
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    // Child processes and big files want the two cores for themselves: files run one after another per worker.
    maxWorkers: 2,
    slowTestThreshold: 5_000,
    // Nothing keeps state where another test finds it: files share what is loaded, which takes longer than many of them.
    isolate: false,
  },
})
