import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A person at a terminal: what they type, and how they are asked. */
export interface Terminal {
  /**
   * Asks for a line. What was typed before the question was there does not answer it. `undefined` when the person
   * ended the input, or nobody wants to know any more.
   */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>
  /** Lines that answer no question go to `listener`. Without one they are dropped. */
  listen(listener: (line: string) => void): void
  /** Shows where one may type. */
  invite(prompt: string): void
  /** Ctrl-C. Without a listener the program ends as programs do. */
  onInterrupt(listener: () => void): void
  /** Ctrl-D. */
  onEnd(listener: () => void): void
  /** Lets the person change a text in an editor of theirs. `undefined` when there is none, or it failed. */
  edit(text: string, editor: string): Promise<string | undefined>
  close(): void
}

interface Question {
  readonly answer: (line: string | undefined) => void
  readonly text: string
}

/** Takes the terminal over, until it is closed. */
export function openTerminal(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Terminal {
  const reader = createInterface({ input, output, terminal: true, prompt: '', historySize: 200 })
  let question: Question | undefined
  let onLine: ((line: string) => void) | undefined
  let onInterrupt: (() => void) | undefined
  let onEnd: (() => void) | undefined

  reader.on('line', (line) => {
    const asked = question
    question = undefined
    if (asked === undefined) onLine?.(line)
    else {
      reader.setPrompt('')
      asked.answer(line)
    }
  })
  reader.on('SIGINT', () => {
    output.write('\n')
    onInterrupt?.()
  })
  reader.on('close', () => {
    if (onEnd !== undefined) output.write('\n')
    question?.answer(undefined)
    question = undefined
    onEnd?.()
  })

  /** Takes back what was typed and not sent. */
  function clearLine(): void {
    reader.write(null, { ctrl: true, name: 'e' })
    reader.write(null, { ctrl: true, name: 'u' })
  }

  return {
    async ask(text, signal) {
      if (signal?.aborted === true) return undefined
      clearLine()
      return await new Promise((resolve) => {
        const stop = (): void => {
          question = undefined
          reader.setPrompt('')
          clearLine()
          output.write('\n')
          resolve(undefined)
        }
        signal?.addEventListener('abort', stop, { once: true })
        question = {
          text,
          answer(line) {
            signal?.removeEventListener('abort', stop)
            resolve(line)
          },
        }
        reader.setPrompt(text)
        reader.prompt()
      })
    },
    listen(listener) {
      onLine = listener
    },
    invite(prompt) {
      if (question !== undefined) return
      reader.setPrompt(prompt)
      // What is half typed stays.
      reader.prompt(true)
    },
    onInterrupt(listener) {
      onInterrupt = listener
    },
    onEnd(listener) {
      onEnd = listener
    },
    async edit(text, editor) {
      const folder = mkdtempSync(join(tmpdir(), 'throughline-edit-'))
      const file = join(folder, 'input.json')
      writeFileSync(file, text, { mode: 0o600 })
      reader.pause()
      input.setRawMode(false)
      try {
        // An editor may be named with its options: `code --wait`.
        const child = spawn('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
        const code = await new Promise((resolve) => {
          child.on('error', () => resolve(undefined))
          child.on('close', resolve)
        })
        return code === 0 ? readFileSync(file, 'utf8') : undefined
      } finally {
        rmSync(folder, { recursive: true, force: true })
        input.setRawMode(true)
        reader.resume()
      }
    },
    close() {
      onEnd = undefined
      reader.close()
    },
  }
}
