import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { field, string } from '#base'
import { replaceFile } from '#journal'
import { personsWords } from './injected.ts'
import { PROMPT_FILE, type Layout } from './layout.ts'
import { readRecordedLines } from './recorded-lines.ts'

/** Writes the first words of a user to `prompt.txt`, all or nothing. They are on disk when it resolves. */
export async function writePrompt({ folder }: Layout, text: string): Promise<void> {
  await replaceFile(join(folder, PROMPT_FILE), text)
}

/** In doubt it rejects: what is taken for missing is written. */
export async function hasFile({ folder }: Layout, name: string): Promise<boolean> {
  try {
    await stat(join(folder, name))
    return true
  } catch (error) {
    if (field(error, 'code') === 'ENOENT') return false
    throw error
  }
}

/** The first words of a user that a recording has. Results of tools and pictures are no words. */
export async function findPrompt({ path }: Layout): Promise<string | undefined> {
  for await (const { line } of readRecordedLines(path)) {
    const text = promptOf(line)
    if (text !== undefined) return text
  }
  return undefined
}

/** The words of a line, when a user said some in it: not what a client put there or beside them. */
export function promptOf(line: unknown): string | undefined {
  if (string(line, 'type') !== 'user') return undefined
  const text = personsWords(field(field(line, 'message'), 'content'))
  return text.trim() === '' ? undefined : text
}
