import { resolve } from 'node:path'
import { ThroughlineError } from '#base'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { findSessionId, findTerminal, readPrompt, toPrompt, withLive } from './live-session.ts'
import { goOn, toRunRequest } from './run-agent.ts'
import { resumeElsewhere } from './resume-elsewhere.ts'
import type { Site } from './site.ts'

/** `throughline resume` */
export async function resume(site: Site, values: Values, console: Console): Promise<number> {
  const [query = '', ...words] = values.args
  const at = values.value('at')
  const isFork = values.flag('fork') || at !== undefined
  if (isFork && values.flag('take-over')) {
    throw new ThroughlineError('bad-usage', '--fork and --take-over say different things', {
      hint: 'A fork leaves the session with whoever holds it; taking over ends them first.',
    })
  }
  const terminal = values.flag('detach') ? undefined : findTerminal(console, values)
  try {
    const text = words.length > 0 ? await readPrompt(words) : undefined
    return await withLive(site, async (throughline) => {
      const id = await findSessionId(throughline, query)
      if (values.value('in') !== undefined)
        return await resumeElsewhere(throughline, id, {
          values,
          console,
          terminal,
          env: site.env,
          prompt: text,
        })
      const workdir = values.value('workdir')
      const prompt = text === undefined ? undefined : toPrompt(text)
      const request = {
        ...toRunRequest(values),
        ...(prompt === undefined ? {} : { prompt }),
        ...(workdir === undefined ? {} : { workdir: resolve(workdir) }),
      }
      const view = isFork
        ? await throughline.live.fork(id, { ...request, ...(at === undefined ? {} : { at }) })
        : await throughline.live.resume(id, { ...request, takeOver: values.flag('take-over') })
      return await goOn({ throughline, view, promptId: prompt?.id, site, values, console, terminal })
    })
  } finally {
    terminal?.close()
  }
}
