import { openThroughline } from '#app'
import { connect } from '#client'
import { openServer, readSecret, toLocalToken } from '#server'
import { describeThroughline, type Opened, type Place } from '#testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'

const suite = { afterAll, beforeAll, describe, expect, test }

async function openInProcess({ env }: Place): Promise<Opened> {
  const throughline = await openThroughline({ env, index: true })
  return { throughline, close: () => throughline.close() }
}

/** A client of a real server on a real port, around one in this process. */
async function openConnected(place: Place): Promise<Opened> {
  const local = await openInProcess(place)
  const server = await openServer({
    throughline: local.throughline,
    home: place.home,
    port: 0,
    now: Date.now,
    version: 'test',
    startedAt: new Date().toISOString(),
  })
  const token = toLocalToken(await readSecret(place.home))
  const throughline = await connect({ url: server.address, token, WebSocket })
  return {
    throughline,
    async close() {
      await throughline.close()
      await server.close()
      await local.close()
    },
  }
}

describe('[CLT1] [RUN1] [RUN2] [RUN3] [RUN4] [RUN5] [RUN6] [RUN7] [RUN8] [RUN9] [RUN10] [RUN11] [RUN12] [RUN13] [A3.2] [A3.3] [C5.1] [C5.2] [C6.1] [DOC29] [DOC30] [DOC32] [DOC33] [DOC34] [DOC35] [DOC36] [DOC37] [DOC38] [B6.1] [B6.2] one interface', () => {
  describeThroughline(suite, { name: 'in this process', open: openInProcess })
  describeThroughline(suite, { name: 'connected to a daemon', open: openConnected })
})
