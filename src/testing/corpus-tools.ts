import { writeFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileDeltaLine, toolsUsedLine } from './corpus-side-lines.ts'
import { toolResultLine } from './corpus-messages.ts'
import type { ToolResult } from './corpus-messages.ts'
import type { Fields, Transcript } from './corpus-transcript.ts'

/** A tool call: the block the model writes, and what comes back once it has run. */
export interface ToolCall {
  readonly name: string
  readonly block: Fields
  readonly id: string
  result(): Pick<ToolResult, 'content' | 'result' | 'isError'>
}

/** Output longer than this goes to a file of its own; the line keeps a preview and the first part. */
const KEPT_OUTPUT = 30_000

export function toolCall(t: Transcript, outputDir: string): ToolCall {
  switch (t.random.int(0, 9)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return bashCall(t, outputDir, t.random.logNormal(900, 1.6))
    case 4:
    case 5:
    case 6:
      return readCall(t)
    case 7:
    case 8:
      return editCall(t)
    default:
      return writeCall(t)
  }
}

export function bashCall(t: Transcript, outputDir: string, chars: number): ToolCall {
  const command = `rg -n "${t.texts.prose(t.random, 12).replaceAll(/["\n]/gu, '')}" src | head -${t.random.int(5, 400)}`
  return call(t, 'Bash', { command, description: t.texts.prose(t.random, 30) }, () => {
    const quiet = t.random.chance(0.06)
    const stdout = quiet ? '' : t.texts.output(t.random, Math.min(chars, 400_000))
    const result = { stdout, stderr: '', interrupted: false, isImage: false, noOutputExpected: quiet }
    if (quiet) return { content: '(Bash completed with no output)', result, isError: false }
    if (stdout.length <= KEPT_OUTPUT) {
      return { content: stdout, result, isError: t.random.chance(0.04) }
    }
    const name = `b${t.random.token(8).toLowerCase()}.txt`
    mkdirSync(outputDir, { recursive: true })
    writeFileSync(join(outputDir, name), stdout)
    t.o.tally.otherFile()
    const path = `/home/user/.claude/projects/${t.o.sessionId}/tool-results/${name}`
    return {
      content: `<persisted-output>\nOutput too large (${(stdout.length / 1024).toFixed(1)}KB). Full output saved to: ${path}\n\nPreview (first 2KB):\n${stdout.slice(0, 2048)}\n...\n</persisted-output>`,
      result: {
        ...result,
        stdout: stdout.slice(0, KEPT_OUTPUT),
        persistedOutputPath: path,
        persistedOutputSize: stdout.length,
      },
      isError: false,
    }
  })
}

function readCall(t: Transcript): ToolCall {
  const file = pathIn(t)
  return call(t, 'Read', { file_path: file }, () => {
    const content = t.random.chance(0.08)
      ? t.texts.rich(t.random, t.random.logNormal(1_500, 0.9))
      : t.texts.code(t.random, Math.min(40_000, t.random.logNormal(3_000, 1)))
    const lines = content.split('\n')
    return {
      content: lines.map((line, index) => `${index + 1}\t${line}`).join('\n'),
      result: {
        type: 'text',
        file: { filePath: file, content, numLines: lines.length, startLine: 1, totalLines: lines.length },
      },
    }
  })
}

/** Reading a picture: the base64 is in the message and once more in `toolUseResult`. */
export function imageReadCall(t: Transcript): ToolCall {
  const file = `${t.place.cwd}/docs/screenshot.png`
  return call(t, 'Read', { file_path: file }, () => {
    const data = imageData(t, t.o.imageChars / 2)
    return {
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }],
      result: { type: 'image', file: { base64: data, type: 'image/png', originalSize: data.length } },
    }
  })
}

export function imageData(t: Transcript, chars: number): string {
  t.o.tally.image()
  return `iVBORw0KGgoAAAANSUhEUgAA${t.texts.base64(t.random, t.random.int(chars * 0.6, chars * 1.4))}`
}

function editCall(t: Transcript): ToolCall {
  const file = pathIn(t)
  const before = t.texts.code(t.random, t.random.int(30, 600))
  const after = t.texts.code(t.random, t.random.int(30, 600))
  return call(t, 'Edit', { file_path: file, old_string: before, new_string: after }, () => ({
    content: `The file ${file} has been updated successfully. (file state is current in your context — no need to Read it back)`,
    result: {
      filePath: file,
      oldString: before,
      newString: after,
      originalFile: `${t.texts.code(t.random, t.random.logNormal(2_500, 0.8))}\n${before}`,
      structuredPatch: [
        {
          oldStart: 1,
          oldLines: 1,
          newStart: 1,
          newLines: 1,
          lines: [
            ...before.split('\n').map((line) => `-${line}`),
            ...after.split('\n').map((line) => `+${line}`),
          ],
        },
      ],
      userModified: false,
      replaceAll: false,
    },
  }))
}

function writeCall(t: Transcript): ToolCall {
  const file = pathIn(t)
  const content = t.texts.code(t.random, t.random.logNormal(1_800, 0.8))
  return call(t, 'Write', { file_path: file, content }, () => ({
    content: `File created successfully at: ${file}`,
    result: { type: 'create', filePath: file, content, structuredPatch: [], originalFile: null },
  }))
}

export function call(t: Transcript, name: string, input: Fields, result: ToolCall['result']): ToolCall {
  const id = `toolu_01${t.random.token(18)}`
  return { name, id, block: { type: 'tool_use', id, name, input }, result }
}

/** Writes the results of calls made by the lines `uses`, each hanging from its own call. */
export function runCalls(t: Transcript, calls: readonly ToolCall[], uses: readonly string[]): void {
  calls.forEach((made, index) => {
    const toolUseLine = uses[index]
    if (toolUseLine === undefined) throw new RangeError('a call without its line')
    toolsUsedLine(t, made.name)
    if (made.name === 'Edit' && t.o.entrypoint === 'cli') fileDeltaLine(t, toolUseLine, 'src/main.ts')
    t.pass(t.random.int(20, 4_000))
    const beside = index < calls.length - 1
    toolResultLine(t, { toolUseId: made.id, toolUseLine, beside, ...made.result() })
  })
}

function pathIn(t: Transcript): string {
  return `${t.place.cwd}/src/${t.random.pick(['model', 'sources', 'journal', 'app'])}/${t.random.token(6).toLowerCase()}.ts`
}
