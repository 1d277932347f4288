/** What the pages are made from: the exports of `#cli`, `#app` and `#base` that describe the program as data. */
export interface ReferenceFacts {
  readonly commands: readonly object[]
  readonly everywhere: readonly object[]
  readonly variables: readonly object[]
  readonly environment: readonly object[]
  readonly routes: object
  readonly settings: readonly object[]
  readonly errorCodes: Readonly<Record<string, string>>
}

export function renderReference(facts: ReferenceFacts): Readonly<Record<string, string>>
