import { ThroughlineError } from '#base'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { findAutostart, withoutPath, type Autostart, type Words } from './autostart.ts'
import { toShortPath } from './short.ts'
import type { Site } from './site.ts'

/** `throughline service` */
export async function service(site: Site, values: Values, console: Console): Promise<number> {
  const plan = findAutostart(site, process.platform)
  if (plan === undefined) {
    throw new ThroughlineError('config-invalid', 'neither systemd nor launchd is known here', {
      hint: 'Start `throughline serve` the way your system starts programs.',
    })
  }
  const isJson = values.flag('json')
  const tell = async (state: object, lines: readonly string[]): Promise<void> => {
    if (isJson) await console.out.write(toJsonLine({ manager: plan.manager, path: plan.path, ...state }))
    else for (const line of lines) console.say(line)
  }
  const shown = toShortPath(plan.path, console.home)
  switch (values.arg) {
    case 'install':
      mkdirSync(dirname(plan.path), { recursive: true })
      writeFileSync(plan.path, plan.content, { mode: 0o600 })
      if (values.flag('now')) await runAll(plan.enable, site)
      await tell({ installed: true, enabled: values.flag('now') }, [
        `Wrote ${shown}`,
        ...nextSteps(plan.enable, values.flag('now')),
      ])
      return 0
    case 'uninstall':
      if (!existsSync(plan.path)) {
        await tell({ installed: false }, [`There is no ${shown}`])
        return 0
      }
      for (const path of [...plan.links, plan.path]) rmSync(path, { force: true })
      if (values.flag('now')) await runAll(plan.disable, site)
      await tell({ installed: false }, [`Removed ${shown}`, ...nextSteps(plan.disable, values.flag('now'))])
      return 0
    default: {
      const state = stateOf(plan)
      await tell({ installed: state !== 'absent', current: state === 'current' }, [
        `${SAYS[state]}: ${shown}`,
      ])
      return state === 'absent' ? 3 : 0
    }
  }
}

const SAYS = {
  absent: 'Not installed',
  other: 'Installed, but for another place or version; install it again',
  current: 'Installed',
} as const

function stateOf({ path, content }: Autostart): keyof typeof SAYS {
  if (!existsSync(path)) return 'absent'
  return withoutPath(readFileSync(path, 'utf8')) === withoutPath(content) ? 'current' : 'other'
}

function nextSteps(commands: readonly Words[], isDone: boolean): readonly string[] {
  return isDone ? [] : commands.map((words) => `next: ${words.join(' ')}`)
}

async function runAll(commands: readonly Words[], site: Site): Promise<void> {
  for (const [program, ...args] of commands) {
    await promisify(execFile)(program, args, { env: site.env }).catch((cause: unknown) => {
      throw new ThroughlineError('config-invalid', `\`${[program, ...args].join(' ')}\` failed`, {
        hint: 'Run it yourself to see why.',
        cause,
      })
    })
  }
}
