import { defineConfig } from 'vitest/config'
import { UNNAMED_HOME } from './test/unnamed-home.ts'

const conditions = ['@throughline/source', 'module', 'node', 'development|production']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // A guard against hanging, on a machine that has other things to do.
    expect: { poll: { timeout: 20_000 } },
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    env: { THROUGHLINE_HOME: UNNAMED_HOME },
    globalSetup: ['test/unnamed-home.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Child processes and big files want the two cores for themselves: files run one after another per worker.
    maxWorkers: 2,
    slowTestThreshold: 5_000,
  },
})
