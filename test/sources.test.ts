import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeSource } from '#testing'
import { SOURCE_PLACES } from './source-places.ts'

const suite = { afterAll, beforeAll, describe, expect, test }

describe('[SRC1] [SRC2] [SRC3] [SRC4] [SRC5] [SRC6] what every source finds', () => {
  describe('[SRC7] [SRC8] [SRC9] [SRC10] [SRC11] [SRC12] [SRC13] and how it reads', () => {
    for (const [name, make] of Object.entries(SOURCE_PLACES)) describeSource(suite, { name, make })
  })
})
