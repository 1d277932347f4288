import type { VNode } from 'preact'
import type { CommandMessage } from '#model'
import type { PassageContext } from './passage-context.ts'
import { toMarked } from './marks.tsx'
import { Moment } from './passage-tools.tsx'
import { TerminalOutput } from './lazy-output.ts'

/** A slash command, and what it printed. */
export function CommandView({
  command,
  context,
}: {
  command: CommandMessage
  context: PassageContext
}): VNode {
  const { marks } = context
  const name = command.command ?? ''
  const output = (command.output ?? '').trim()
  return (
    <div class="command">
      <p class="command-line">
        {name === '' ? (
          <span>A command printed</span>
        ) : (
          <code>
            <b>{toMarked(name.startsWith('/') ? name : `/${name}`, marks)}</b>{' '}
            {toMarked(command.args ?? '', marks)}
          </code>
        )}
        <Moment at={command.at} />
      </p>
      {output === '' ? null : (
        <TerminalOutput of={command.entries[0] ?? command} text={output} marks={marks} />
      )}
    </div>
  )
}
