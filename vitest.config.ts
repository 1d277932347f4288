import { defineConfig } from 'vitest/config'

const conditions = ['@throughline/source', 'module', 'node', 'development|production']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Child processes and big files want the two cores for themselves: files run one after another per worker.
    maxWorkers: 2,
    slowTestThreshold: 5_000,
  },
})
