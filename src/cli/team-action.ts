import { openBook, readConfig, type Config } from '#app'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import type { Site } from './site.ts'

/** What every action of `throughline team` is given. */
export interface TeamAction {
  readonly site: Site
  readonly values: Values
  readonly console: Console
  /** The word after the action. */
  readonly what: string | undefined
}

/** The book of this machine's team, for as long as `work` takes. */
export async function withBook<T>(
  site: Site,
  work: (book: Awaited<ReturnType<typeof openBook>>) => Promise<T>,
): Promise<T> {
  const book = await openBook(configOf(site))
  try {
    return await work(book)
  } finally {
    await book.close()
  }
}

/** The settings as every process here reads them. */
export function configOf({ env, userHome }: Site): Config {
  return readConfig({ env, homeDir: userHome })
}
