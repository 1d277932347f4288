import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeStore } from '#testing'
import { openSqliteStore } from './open.ts'

describe('[STO1] [STO2] [STO3] [STO4] [STO5] [STO6] [STO7] [STO8] [STO9] [STO10] [STO11] [STO12] a store', () => {
  describeStore(
    { afterAll, beforeAll, describe, expect, test },
    { name: 'in SQLite', open: async (place) => openSqliteStore({ path: join(place, 'index.db') }) },
  )
})
