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
    // Most of the time a test waits for a process, a page or a disk: one more than there are cores keeps them at work.
    maxWorkers: 3,
    slowTestThreshold: 5_000,
  },
})
