const FRAMES = 20

/** Opens the call with this id among those of a passage, and gives what shows it. */
export async function unfoldCall(passage: HTMLElement, id: string): Promise<HTMLElement | undefined> {
  const find = (): HTMLDetailsElement | null =>
    passage.querySelector<HTMLDetailsElement>(`details[data-call="${CSS.escape(id)}"]`)
  for (const group of passage.querySelectorAll<HTMLDetailsElement>('details.fold-calls:not([open])')) {
    if (find() !== null) break
    group.open = true
    for (let frame = 0; frame < FRAMES && find() === null; frame++) await nextFrame()
    if (find() === null) group.open = false
  }
  const call = find()
  if (call === null) return undefined
  call.open = true
  await settle(passage, call)
  return call
}

/** What is inside is fetched and drawn in some frames, and moves what is around it. */
async function settle(passage: HTMLElement, call: HTMLElement): Promise<void> {
  let before = ''
  for (let [frame, still] = [0, 0]; frame < 2 * FRAMES && still < 4; frame++) {
    await nextFrame()
    const [own, all] = [call.getBoundingClientRect(), passage.getBoundingClientRect()]
    const now = `${own.top - all.top} ${own.height} ${all.height}`
    still = now === before ? still + 1 : 0
    before = now
  }
}

async function nextFrame(): Promise<void> {
  await new Promise((resolve) => requestAnimationFrame(resolve))
}
