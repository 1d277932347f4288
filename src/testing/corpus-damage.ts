import type { DamageKind } from './corpus-facts.ts'
import { unknownLine } from './corpus-side-lines.ts'
import type { Transcript } from './corpus-transcript.ts'

/**
 * Writes one line that is not JSON. Never a line others hang from or that carries tokens: what is lost here,
 * nobody counted.
 */
export function writeDamage(t: Transcript, kind: DamageKind): void {
  const { file } = t.o
  const offset = file.bytes
  const bytes = damagedBytes(t, kind)
  t.o.tally.line('damaged')
  file.raw(kind === 'torn-tail' ? bytes : Buffer.concat([bytes, Buffer.from('\n')]))
  t.damage(kind, offset, bytes.length)
  // What a real loader goes on with: the damage is in the middle of the file from now on.
  if (kind !== 'torn-tail') unknownLine(t)
}

function damagedBytes(t: Transcript, kind: DamageKind): Buffer {
  switch (kind) {
    case 'torn-tail':
    case 'torn-middle':
      return tornLine(t)
    case 'zeros':
      // A file whose length was on disk before its content, after a power cut.
      return Buffer.alloc(t.random.int(16, 4096))
    case 'glued':
      return Buffer.concat([
        tornLine(t),
        Buffer.from(JSON.stringify({ type: 'mode', mode: 'normal', sessionId: t.o.sessionId })),
      ])
  }
}

function tornLine(t: Transcript): Buffer {
  const whole = Buffer.from(
    JSON.stringify({
      parentUuid: t.tip,
      isSidechain: false,
      message: {
        id: `msg_01${t.random.token(18)}`,
        type: 'message',
        role: 'assistant',
        content: [{ type: 'text', text: t.texts.rich(t.random, 600) }],
        usage: { input_tokens: 7, output_tokens: 7 },
      },
      type: 'assistant',
      uuid: t.random.uuid(),
      sessionId: t.o.sessionId,
    }),
  )
  // Anywhere, also in the middle of a character.
  return whole.subarray(0, t.random.int(1, whole.length - 1))
}
