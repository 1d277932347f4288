import { list, string } from '#base'

/** What Vercel's AI SDK refuses: what its own schema does, and calls and results that do not stand together. */
export async function findAiSdkFaults(messages: readonly unknown[]): Promise<readonly string[]> {
  // Loaded by whoever asks: it is large, and hardly any test does.
  const { modelMessageSchema } = await import('ai')
  const faults: string[] = []
  const fault = (at: number, what: string): number => faults.push(`messages.${at}: ${what}`)
  const seen = new Set<string>()
  for (const [at, message] of messages.entries()) {
    const { error } = modelMessageSchema.safeParse(message)
    if (error !== undefined) fault(at, error.message)
    const calls = idsOf(message, 'tool-call')
    const results = idsOf(messages[at + 1], 'tool-result')
    for (const id of calls) {
      if (seen.has(id)) fault(at, `the id ${id} twice`)
      // What every provider behind it takes.
      if (!/^[a-zA-Z0-9_-]{1,64}$/u.test(id)) fault(at, `the id ${id}`)
      seen.add(id)
    }
    if (calls.toSorted().join() !== results.toSorted().join())
      fault(at, `tool calls without their results: ${calls.join()}`)
    if (
      list(message, 'content').some((part) => string(part, 'type') === 'text' && string(part, 'text') === '')
    )
      fault(at, 'empty text')
  }
  return faults
}

function idsOf(message: unknown, type: string): readonly string[] {
  return list(message, 'content').flatMap((part) =>
    string(part, 'type') === type ? [string(part, 'toolCallId') ?? ''] : [],
  )
}
