import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeSource, makeClaudePlace } from '#testing'
import { join } from 'node:path'
import { createRecordedSources } from './recorded-sources.ts'

const suite = { afterAll, beforeAll, describe, expect, test }

describeSource(suite, {
  name: 'what was recorded in the home',
  make: (folder) =>
    makeClaudePlace(join(folder, 'recorded', 'scripted'), () => {
      const source = createRecordedSources(folder).find(({ agent }) => agent === 'scripted')
      if (source === undefined) throw new Error('nothing is recorded of the scripted agent')
      return source
    }),
})
