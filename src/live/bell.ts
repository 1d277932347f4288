/** Something that happens once, and can be waited for. */
export interface Bell {
  ring(): void
  readonly rung: Promise<void>
}

export function createBell(): Bell {
  let ring: (() => void) | undefined
  const rung = new Promise<void>((resolve) => {
    ring = resolve
  })
  return { ring: () => ring?.(), rung }
}
