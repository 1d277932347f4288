import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { createLines, toJsonl, type LineMaker } from '#testing'

/** What can happen to the files of sessions. Sessions and projects are numbered. */
export type Happening =
  | { readonly kind: 'append'; readonly of: number; readonly lines: number; readonly word: string }
  /** Typed while a turn runs; delivered, it is said again. */
  | { readonly kind: 'queue' | 'deliver'; readonly of: number }
  /** A line without its newline. */
  | { readonly kind: 'leave-open'; readonly of: number }
  | { readonly kind: 'tear'; readonly of: number; readonly part: number }
  | { readonly kind: 'mend'; readonly of: number }
  | { readonly kind: 'truncate'; readonly of: number; readonly part: number }
  | { readonly kind: 'rewrite'; readonly of: number }
  | { readonly kind: 'replace'; readonly of: number; readonly lines: number }
  | { readonly kind: 'delete'; readonly of: number }
  | { readonly kind: 'create'; readonly of: number; readonly lines: number }
  | { readonly kind: 'rename-project'; readonly project: number }
  | { readonly kind: 'delegate'; readonly of: number; readonly lines: number }
  | { readonly kind: 'damage'; readonly of: number }

export const SESSIONS: readonly string[] = [1, 2, 3].map((n) => `aaaaaaaa-0000-4000-8000-00000000000${n}`)

/** A folder of Claude Code in which things happen. */
export interface World {
  readonly claudeDir: string
  happen(happening: Happening): void
}

export function createWorld(claudeDir: string): World {
  const projects = ['-work-a', '-work-b']
  const makers = SESSIONS.map((sessionId, n) => createLines({ sessionId, cwd: `/work/${n}` }))
  const rests = new Map<number, string>()
  const queues: string[][] = []
  const folder = (project: number): string => join(claudeDir, 'projects', projects[project] ?? '')
  const pathOf = (of: number): string => join(folder(of % 2), `${SESSIONS[of] ?? ''}.jsonl`)
  const lineOf = (of: number): LineMaker => makers[of] ?? createLines()

  function linesOf(of: number, count: number, word = 'amber'): string {
    const made: object[] = []
    for (let n = 0; n < count; n++) {
      const call = `toolu_${of}_${n}`
      made.push(
        n % 3 === 0
          ? lineOf(of).prompt(`please ${word} the parseLine`)
          : n % 3 === 1
            ? lineOf(of).reply(
                [
                  { type: 'thinking', thinking: `maybe ${word}` },
                  { type: 'text', text: `Yes ${word}.` },
                  { type: 'tool_use', id: call, name: 'Bash', input: { command: `echo ${word}` } },
                ],
                { requestId: `req_${of}_${n}` },
              )
            : lineOf(of).result(call, `printed ${word}`),
      )
    }
    return toJsonl(made)
  }

  function happen(happening: Happening): void {
    if (happening.kind === 'rename-project') {
      const { project } = happening
      const from = folder(project)
      projects[project] = projects[project]?.endsWith('-moved')
        ? projects[project].slice(0, -6)
        : `${projects[project]}-moved`
      if (existsSync(from)) renameSync(from, folder(project))
      return
    }
    const { of } = happening
    const path = pathOf(of)
    if (happening.kind === 'create') {
      if (!existsSync(path)) write(path, linesOf(of, happening.lines))
      return
    }
    if (!existsSync(path)) return
    switch (happening.kind) {
      case 'append':
        appendFileSync(path, linesOf(of, happening.lines, happening.word))
        break
      case 'queue': {
        const words = `queued amber ${queues[of]?.length ?? 0}`
        queues[of] = [...(queues[of] ?? []), words]
        appendFileSync(
          path,
          toJsonl([
            { type: 'queue-operation', operation: 'enqueue', content: words, sessionId: SESSIONS[of] },
          ]),
        )
        break
      }
      case 'deliver': {
        const [words = 'nothing was queued', ...rest] = queues[of] ?? []
        queues[of] = rest
        appendFileSync(path, toJsonl([lineOf(of).prompt(words)]))
        break
      }
      case 'leave-open':
        appendFileSync(path, linesOf(of, 1).slice(0, -1))
        rests.set(of, '\n')
        break
      case 'tear': {
        const line = linesOf(of, 1)
        const at = 1 + Math.floor(happening.part * (line.length - 2))
        appendFileSync(path, line.slice(0, at))
        rests.set(of, line.slice(at))
        break
      }
      case 'mend':
        appendFileSync(path, rests.get(of) ?? '')
        rests.delete(of)
        break
      case 'truncate':
        truncateSync(path, Math.floor(statSync(path).size * happening.part))
        break
      case 'rewrite': {
        const swapped = readFileSync(path, 'utf8').replaceAll(/amber|azure/g, (word) =>
          word === 'amber' ? 'azure' : 'amber',
        )
        writeFileSync(path, swapped)
        break
      }
      case 'replace': {
        const beside = join(claudeDir, `new-${of}`)
        write(beside, linesOf(of, happening.lines, 'azure'))
        renameSync(beside, path)
        break
      }
      case 'delete':
        rmSync(path)
        break
      case 'delegate': {
        const own = join(path.slice(0, -'.jsonl'.length), 'subagents', 'agent-a1b2c3d4e5f6a7b8c.jsonl')
        mkdirSync(dirname(own), { recursive: true })
        appendFileSync(own, linesOf(of, happening.lines, 'indigo'))
        break
      }
      case 'damage':
        appendFileSync(path, '\u0000\u0000{"type":"user","broken\n')
        break
    }
  }

  return { claudeDir, happen }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
