import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Gemini CLI cannot go on with a session in the minute in which it was begun: it was begun yesterday. */
export function ageGemini(root: string): void {
  const folder = join(root, 'gemini/.gemini/tmp/work/chats')
  for (const name of readdirSync(folder)) {
    const [day = ''] = /\d{4}-\d\d-\d\d/.exec(name) ?? []
    const before = new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)
    const bytes = readFileSync(join(folder, name), 'utf8')
    renameSync(join(folder, name), join(folder, name.replace(day, before)))
    writeFileSync(join(folder, name.replace(day, before)), bytes.replaceAll(`${day}T`, `${before}T`))
  }
}
