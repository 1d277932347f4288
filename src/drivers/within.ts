/** Waits for something, but not longer than this, and not for how it ends. Says whether it ended. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  const done = work.then(isOver, isOver)
  const isDone = await Promise.race([done, late])
  clearTimeout(timer)
  return isDone
}

function isOver(): boolean {
  return true
}
