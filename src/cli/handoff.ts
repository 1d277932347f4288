import { resolve } from 'node:path'
import { ThroughlineError } from '#base'
import { toPlural, toShellLine, toSize } from '#render'
import { readNativeAgent } from '#wire'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { toLossLines } from './losses.ts'
import type { Site } from './site.ts'
import { writePieces } from './write-output.ts'

/** `throughline handoff`: a session goes to another machine, or comes from one. */
export async function handoff(site: Site, values: Values, console: Console): Promise<number> {
  const [first = '', bundle] = values.args
  // The bundle is a file of this machine, whoever else knows of the sessions.
  const throughline = await site.openLocal()
  try {
    if (first === 'import') return await takeIn(throughline, bundle, { values, console })
    const session = await throughline.get(first)
    const out = values.value('out') ?? `${session.id.slice(0, 36)}.handoff.gz`
    const size = await writePieces(out, throughline.pack(session), { force: values.flag('force') })
    if (values.flag('json')) await console.out.write(toJsonLine({ sessionId: session.id, out, bytes: size }))
    else {
      console.say(
        `Wrote ${out}, ${toSize(size)}. Secrets in it are as they were said: hand it to nobody else.`,
      )
      console.say(`next: copy it over, then there: throughline handoff import ${out} --workdir <folder>`)
    }
    return 0
  } finally {
    await throughline.close()
  }
}

async function takeIn(
  throughline: Awaited<ReturnType<Site['openLocal']>>,
  bundle: string | undefined,
  { values, console }: { readonly values: Values; readonly console: Console },
): Promise<number> {
  if (bundle === undefined) {
    throw new ThroughlineError('bad-usage', 'there is no bundle to take in', {
      hint: 'Name the file: throughline handoff import <file>.',
    })
  }
  const workdir = values.value('workdir')
  const to = values.value('in')
  const taken = await throughline.takeIn(resolve(bundle), {
    ...(workdir === undefined ? {} : { workdir: resolve(workdir) }),
    ...(to === undefined ? {} : { to: readNativeAgent(to) }),
  })
  if (values.flag('json')) {
    await console.out.write(toJsonLine(taken))
    return 0
  }
  console.say(`Imported as ${taken.sessionId}.`)
  if (taken.documents > 0) {
    console.say(
      `${toPlural(taken.documents, 'new document')} held until you approve: throughline documents review`,
    )
  }
  for (const line of toLossLines(taken.losses, console)) console.say(line)
  console.say(`next: ${toShellLine(taken.command, taken.workdir)}`)
  return 0
}
