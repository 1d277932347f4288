import type { LineMaker } from '../claude-lines.ts'
import { MALFORMED } from './malformed.ts'
import { answered, call, given, image, PNG, pngOf, said, text, type Poison } from './lines.ts'

const EMPTIED = { type: 'thinking', thinking: '', signature: 'sig' }
/** A block in a line of its own, of one answer. */
const inOne = (block: object): object => ({
  message: { id: 'msg_one', role: 'assistant', model: 'm', content: [block] },
})
/** What the client writes down when the provider refuses. */
const refused = (make: LineMaker): object => {
  const words =
    'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."}}'
  const message = { id: 'synthetic', role: 'assistant', model: '<synthetic>', content: [text(words)] }
  return make.reply([], { message, isApiErrorMessage: true })
}

export const POISONED: readonly Poison[] = [
  {
    id: 'P01',
    what: 'a call at the end that was never answered',
    lines: (make) => [make.prompt('go'), make.reply([call('toolu_1')])],
    kinds: ['call-unanswered'],
    difference: { added: 1 },
    isHandled: true,
  },
  {
    id: 'P01',
    what: 'a call that was interrupted, and a prompt behind it',
    lines: (make) => [make.prompt('go'), make.reply([call('toolu_1')]), make.prompt('still there?')],
    kinds: ['call-unanswered'],
    difference: { added: 1 },
    isHandled: true,
  },
  {
    id: 'P01',
    what: 'a call that a command broke off',
    lines: (make) => [
      make.prompt('go'),
      make.reply([text('I look.'), call('toolu_1')]),
      make.prompt('<command-name>/login</command-name>\n<command-message>login</command-message>'),
      make.prompt('go on'),
    ],
    kinds: ['call-unanswered'],
    difference: { added: 1 },
    isHandled: true,
  },
  {
    id: 'P01',
    what: 'one of two parallel calls that was never answered',
    lines: (make) => [
      make.prompt('go'),
      make.reply([call('toolu_1'), call('toolu_2')]),
      make.result('toolu_1', 'done'),
    ],
    kinds: ['call-unanswered'],
    difference: { added: 1 },
    isHandled: true,
  },
  {
    id: 'P02',
    what: 'a result that answers nothing, at the beginning',
    lines: (make) => [make.result('toolu_0', 'lost'), make.prompt('go'), make.reply([text('so')])],
    kinds: ['result-orphaned'],
    difference: { gone: 1 },
    isHandled: true,
  },
  {
    id: 'P02',
    what: 'a result that answers nothing, in the middle',
    lines: (make) => [make.prompt('go'), make.result('toolu_0', 'lost'), make.reply([text('so')])],
    kinds: ['result-orphaned'],
    difference: { gone: 1 },
    isHandled: true,
  },
  {
    id: 'P02',
    what: 'a result before its call',
    lines: (make) => [
      make.prompt('go'),
      make.result('toolu_1', 'done'),
      make.reply([call('toolu_1')]),
      make.reply([text('so')]),
    ],
    kinds: ['result-late'],
    difference: { moved: true },
    isHandled: true,
  },
  {
    id: 'P02',
    what: 'a prompt wedged between a call and its result',
    lines: (make) => [
      make.prompt('go'),
      make.reply([call('toolu_1')]),
      make.prompt('and hurry'),
      make.result('toolu_1', 'done'),
      make.reply([text('so')]),
    ],
    kinds: ['result-late'],
    difference: { moved: true },
    isHandled: true,
  },
  {
    id: 'P02',
    what: 'a call that is answered twice',
    lines: (make) => [
      make.prompt('go'),
      make.reply([call('toolu_1')]),
      make.result('toolu_1', 'a'),
      make.result('toolu_1', 'b'),
    ],
    kinds: ['result-repeated'],
    difference: { gone: 1 },
    isHandled: true,
  },
  {
    id: 'P02',
    what: 'two calls with one id',
    lines: (make) => [
      make.prompt('go'),
      make.reply([call('toolu_1')]),
      make.result('toolu_1', 'done'),
      make.reply([text('again'), call('toolu_1')]),
    ],
    kinds: ['call-repeated'],
    difference: { blocks: 1 },
    isHandled: true,
  },
  {
    id: 'P04',
    what: 'thinking that the provider refuses',
    lines: (make) => [make.prompt('go'), make.reply([EMPTIED, text('so')]), make.prompt('on'), refused(make)],
    kinds: ['thinking-edited'],
    difference: { blocks: 1 },
    isUnseen: true,
  },
  {
    id: 'P04',
    what: 'refused thinking that has a line of its own',
    lines: (make) => {
      return [
        make.prompt('go'),
        make.reply([], inOne(EMPTIED)),
        make.reply([], inOne(text('so'))),
        refused(make),
      ]
    },
    kinds: ['thinking-edited'],
    difference: { gone: 1 },
    isUnseen: true,
  },
  {
    id: 'P04',
    what: 'thinking that lost its signature',
    lines: answered({ type: 'thinking', thinking: 'hm' }, text('so')),
    kinds: ['thinking-edited'],
    difference: { blocks: 1 },
  },
  {
    id: 'P09',
    what: 'a picture of more than 8000 pixels',
    lines: said(image(pngOf(9_000, 10))),
    kinds: ['image-too-large'],
    difference: { blocks: 1 },
  },
  {
    id: 'P09',
    what: 'one of many pictures that has more than 2000 pixels',
    lines: said(...Array.from({ length: 20 }, () => image(PNG)), image(pngOf(3_000, 10))),
    kinds: ['image-too-large'],
    difference: { blocks: 1 },
  },
  {
    id: 'P09',
    what: 'a picture of more than 5 MB',
    lines: said(
      image(Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.alloc(6_000_000)]).toString('base64')),
    ),
    kinds: ['image-too-large'],
    difference: { blocks: 1 },
  },
  {
    id: 'P09',
    what: 'a picture without a byte',
    lines: said(image('')),
    kinds: ['image-broken'],
    difference: { blocks: 1 },
  },
  {
    id: 'P09',
    what: 'a picture that is called what it is not',
    lines: said(image(PNG, 'image/jpeg')),
    kinds: ['image-broken'],
    difference: { blocks: 1 },
  },
  {
    id: 'P09',
    what: 'a result with two broken pictures beside its words',
    lines: given([text('seen'), image(PNG, 'image/bmp'), image('')]),
    kinds: ['image-broken'],
    difference: { blocks: 1 },
  },
  {
    id: 'P09',
    what: 'what is no picture at all',
    lines: said(image(Buffer.from('<html>').toString('base64'))),
    kinds: ['image-broken'],
    difference: { blocks: 1 },
  },
  {
    id: 'E2.3',
    what: 'a prompt that is a blank string',
    lines: (make) => [
      make.prompt('go'),
      make.reply([text('so')]),
      make.prompt(' \n'),
      make.reply([text('what?')]),
    ],
    kinds: ['text-empty'],
    difference: { gone: 1 },
  },
  {
    id: 'E2.3',
    what: 'an empty text among what a tool gave',
    lines: given([text(''), text('seen')]),
    kinds: ['text-empty'],
    difference: { blocks: 1 },
  },
  ...MALFORMED,
  {
    id: 'E2.3',
    what: 'half a character in a prompt',
    lines: (make) => [make.prompt('a \ud83d b'), make.reply([text('so')])],
    kinds: ['text-broken'],
    difference: { blocks: 1 },
    isHandled: true,
  },
  {
    id: 'E2.3',
    what: 'noughts in what a tool gave',
    lines: given('binary \u0000\u0000 here'),
    kinds: ['text-broken'],
    difference: { blocks: 1 },
  },
  {
    id: 'E2.3',
    what: 'half a character in what a tool was given',
    lines: (make) => [
      make.prompt('go'),
      make.reply([call('toolu_1', { command: 'echo \udc00' })]),
      make.result('toolu_1', 'done'),
    ],
    kinds: ['text-broken'],
    difference: { blocks: 1 },
    isHandled: true,
  },
  {
    id: 'E2.3',
    what: "a system's words among the messages",
    lines: (make) => [
      make.prompt('', { message: { role: 'system', content: 'be nice' } }),
      make.prompt('go'),
      make.reply([text('so')]),
    ],
    kinds: ['role-unknown'],
    difference: { gone: 1 },
    isHandled: true,
  },
  {
    id: 'E2.3',
    what: 'a document of a type that nobody takes',
    lines: said({
      type: 'document',
      source: { type: 'base64', media_type: 'application/zip', data: 'UEs=' },
    }),
    kinds: ['media-unknown'],
    difference: { blocks: 1 },
  },
]
