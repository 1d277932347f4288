import type { Loss, LossKind, Origin } from '#model'

export type { Loss, Origin } from '#model'

/** Gathers losses while a conversation is written for a provider. */
export interface LossBook {
  note(kind: LossKind, origin: Origin, what: Pick<Loss, 'how' | 'why'>): void
  readonly losses: readonly Loss[]
}

export function createLossBook(before: readonly Loss[] = []): LossBook {
  const losses = [...before]
  return {
    note: (kind, origin, { how, why }) => losses.push({ kind, origin, how, why }),
    losses,
  }
}
