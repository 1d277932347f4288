import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Source } from '#sources'
import { createLines, toJsonl } from './claude-lines.ts'
import type { SourcePlace } from './source-contract.ts'

const FIXTURES = new URL('../../test/fixtures/claude/', import.meta.url).pathname
const SCENARIOS = ['plain', 'tools', 'thinking', 'subagent', 'compact_manual']
const PLAIN = 'b1cb2893-e5dc-43a8-98e4-56f0fd022834'
const THINKING = 'e82fbed6-3b71-4b83-ade5-9e7826d3e675'
const SUBAGENTS = {
  '64d3dcee-fd77-4351-b97a-8f893ae3c006': ['a9c4adc48fe6a953f'],
  'f8d8a898-9ff2-487e-bb90-6a6995c67e9b': ['a348efb8afc311a3d'],
}
/** Later than anything in a recorded session. */
export const LATER: string = '2027-01-01T00:00:00.000Z'

/** Real sessions of Claude Code under a root, for whoever reads that layout. */
export function makeClaudePlace(root: string, open: () => Source): SourcePlace {
  const projects = join(root, 'projects')
  mkdirSync(projects, { recursive: true })
  for (const scenario of SCENARIOS)
    cpSync(join(FIXTURES, scenario, 'config', 'projects'), projects, { recursive: true })
  const [plain, thinking] = [
    join(projects, '-home-user-work-plain'),
    join(projects, '-home-user-work-thinking'),
  ]
  return {
    open,
    agentDir: root,
    growing: PLAIN,
    say: (words) => inHalves(join(plain, `${PLAIN}.jsonl`), toClaudeLine(PLAIN, words)),
    plantLinks: (target) => {
      plantLinks(plain, {
        target,
        link: 'aaaaaaaa-0000-4000-8000-000000000001.jsonl',
        pipe: 'aaaaaaaa-0000-4000-8000-000000000002.jsonl',
      })
      symlinkSync(target, join(projects, '-home-user-work-linked'))
    },
    remove() {
      rmSync(thinking, { recursive: true })
      return THINKING
    },
    subagents: SUBAGENTS,
  }
}

let said = 0

/** A prompt as Claude Code writes it, with an id of its own. */
export function toClaudeLine(sessionId: string, words: string): string {
  const line = createLines({ sessionId }).prompt(words, { timestamp: LATER, parentUuid: null })
  const uuid = `00000000-0000-4000-9000-${String(++said).padStart(12, '0')}`
  return toJsonl([{ ...line, uuid }])
}

/** Adds a line in two writes, neither of them a line. */
export function inHalves(path: string, line: string): readonly (() => void)[] {
  const middle = Math.floor(line.length / 2)
  return [() => appendFileSync(path, line.slice(0, middle)), () => appendFileSync(path, line.slice(middle))]
}

/** Puts a link to somebody's secret and a pipe into a folder, under names that transcripts have. */
export function plantLinks(
  folder: string,
  names: { readonly target: string; readonly link: string; readonly pipe: string },
): void {
  symlinkSync(join(names.target, 'secret.jsonl'), join(folder, names.link))
  execFileSync('mkfifo', [join(folder, names.pipe)])
}
