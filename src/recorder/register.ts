import { join } from 'node:path'
import { string } from '#base'
import { openSharedJournal, readJournal } from '#journal'

/** What this process has noted already. */
const noted = new Set<string>()

/**
 * Notes a folder in which something is recorded, once, in the home of Throughline: recordings are beside the work,
 * and nobody could know of all the places. Never rejects: a recording is worth more than being found at once.
 */
export async function noteFolder(
  cwd: string,
  { home, now }: { readonly home: string | false; readonly now: () => number },
): Promise<void> {
  if (home === false || noted.has(`${home}\0${cwd}`)) return
  noted.add(`${home}\0${cwd}`)
  try {
    if ((await readRegister(home)).includes(cwd)) return
    const journal = await openSharedJournal(registerPath(home))
    try {
      if ((await readRegister(home)).includes(cwd)) return
      await journal.append({ cwd, at: new Date(now()).toISOString() })
    } finally {
      await journal.close()
    }
  } catch {
    // The next recording there tries again.
    noted.delete(`${home}\0${cwd}`)
  }
}

/** The folders in which something was recorded on this machine, in the order in which they were noted. */
export async function readRegister(home: string): Promise<readonly string[]> {
  const folders = new Set<string>()
  for await (const item of readJournal(registerPath(home))) {
    const cwd = item.kind === 'line' ? string(item.value, 'cwd') : undefined
    if (cwd !== undefined) folders.add(cwd)
  }
  return [...folders]
}

function registerPath(home: string): string {
  return join(home, 'recordings.jsonl')
}
