import { findProgram } from '../program.ts'

/** The `claude` that a person installed, and none that lies in the project. */
export function findClaude(searchPath: string, workdir: string): string | undefined {
  return findProgram('claude', { searchPath, workdir })
}
