import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeDriver } from '#testing'
import { openCodexPlace } from './drivers-acp-place.ts'

describe('[DRV1] [DRV2] [DRV3] [DRV4] [DRV5] [DRV6] [DRV7] [DRV8] [DRV9] [DRV10] [DRV11] [DRV12] [DRV13] [DRV14] [DRV15] [DRV16] [DRV17] [DRV18] [DRV19] [DRV20] [DRV21] a driver', () => {
  describeDriver(
    { afterAll, beforeAll, describe, expect, test },
    { name: 'Codex', open: () => openCodexPlace() },
  )
})
