import type { IndexTask } from '../index-task.ts'

/** The files of the past that are still to be read, in their order. */
export interface PastTasks {
  readonly size: number
  has(path: string): boolean
  /** The next one; it does not wait any longer. */
  take(): IndexTask | undefined
  /** It waits where it waited before, as something else. */
  replace(task: IndexTask): void
  drop(path: string): void
}

export function createPastTasks(all: readonly IndexTask[]): PastTasks {
  const tasks = new Map(all.map((task) => [task.path, task]))
  /** A map is slow to find its first key when many before it were deleted: the order has an array of its own. */
  const order = [...tasks.keys()]
  let next = 0
  return {
    get size() {
      return tasks.size
    },
    has: (path) => tasks.has(path),
    take() {
      for (; next < order.length;) {
        const path = order[next++] ?? ''
        const task = tasks.get(path)
        if (task === undefined) continue
        tasks.delete(path)
        return task
      }
      return undefined
    },
    replace(task) {
      if (tasks.has(task.path)) tasks.set(task.path, task)
    },
    drop: (path) => void tasks.delete(path),
  }
}
