import type { TeamLog } from '#store'

/** Opens one log for all who want one, and closes it when the last of them does. One that fails is opened anew. */
export function shareLog(open: () => Promise<TeamLog>): () => Promise<TeamLog> {
  let opening: Promise<TeamLog> | undefined
  let users = 0
  return async () => {
    const mine = (opening ??= open().catch((error: unknown) => {
      opening = undefined
      throw error
    }))
    const log = await mine
    users++
    let isClosed = false
    return {
      ...log,
      async close() {
        if (isClosed) return
        isClosed = true
        if (--users > 0) return
        opening = undefined
        await log.close()
      },
    }
  }
}
