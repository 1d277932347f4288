import * as fc from 'fast-check'
import { runs } from '#testing'
import { describe, expect, test } from 'vitest'
import { createCodexEdit } from './codex-config.ts'
import type { ConfigEdit } from './config-edit.ts'
import { createGeminiEdit } from './gemini-config.ts'
import { findWhole } from './json-members.ts'
import type { McpEntry } from './mcp-entry.ts'
import { readTables } from './toml-tables.ts'

const ENTRY: McpEntry = {
  command: '/usr/bin/node',
  args: ['/opt/with "quotes" and ü/throughline.js', 'mcp'],
  env: { THROUGHLINE_HOME: String.raw`/home/ann/.through\line` },
}
const gemini = createGeminiEdit(ENTRY)
const codex = createCodexEdit(ENTRY)

function connect(edit: ConfigEdit, text: string | undefined): string {
  return edit.insert(text, edit.entry(text))
}

const space = fc.constantFrom(
  '',
  ' ',
  '\n',
  '\n  ',
  '\t',
  '\r\n    ',
  '  // a note\n',
  ' /* "mcpServers": { */ ',
)
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }).map((one) => JSON.stringify(one)),
  fc.constantFrom('{}', '{ }', '[1, 2, ]', '"a } in a \\" text"'),
)

/** An object as somebody may have written it: comments, odd spaces, a comma too many. */
function written(members: fc.Arbitrary<readonly (readonly [string, string])[]>): fc.Arbitrary<string> {
  return fc
    .tuple(members, fc.array(space, { minLength: 40, maxLength: 40 }), fc.boolean())
    .map(([all, spaces, more]) => {
      let at = 0
      const next = (): string => spaces[at++ % spaces.length] ?? ''
      const texts = all.map(
        ([key, text]) => `${next()}${JSON.stringify(key)}${next()}:${next()}${text}${next()}`,
      )
      return `{${texts.join(',')}${more && texts.length > 0 ? ',' : ''}${next()}}`
    })
}

const key = fc.string({ maxLength: 8 }).filter((one) => one !== 'mcpServers' && one !== 'throughline')
const plain = written(fc.uniqueArray(fc.tuple(key, value), { maxLength: 4, selector: ([one]) => one }))
const settings = fc.oneof(
  plain,
  plain.chain((servers) =>
    fc
      .tuple(fc.uniqueArray(fc.tuple(key, value), { maxLength: 3, selector: ([one]) => one }), fc.nat(3))
      .chain(([rest, at]) => written(fc.constant(rest.toSpliced(at, 0, ['mcpServers', servers])))),
  ),
)

describe('settings of Gemini', () => {
  test('[CON3] taken back, every byte is what it was before', () => {
    fc.assert(
      fc.property(fc.tuple(space, settings, space), (pieces) => {
        const before = pieces.join('')
        expect(gemini.find(before)).toEqual({ kind: 'absent' })
        const after = connect(gemini, before)
        expect(gemini.find(after)).toEqual({ kind: 'ours', text: gemini.entry(before) })
        expect(gemini.remove(after)).toBe(before)
      }),
      runs(300),
    )
  })

  test('[CON3] a file that was not there, was empty, or held only spaces', () => {
    expect(gemini.remove(connect(gemini, undefined))).toBe(undefined)
    for (const before of ['', '\n', '  \r\n', '{}', '{ }', '{\n}\n', '\ufeff{}\n']) {
      expect(gemini.remove(connect(gemini, before))).toBe(before)
    }
    expect(JSON.parse(connect(gemini, undefined))).toEqual({ mcpServers: { throughline: ENTRY } })
    expect(JSON.parse(connect(gemini, '{"theme":"dark"}'))).toEqual({
      theme: 'dark',
      mcpServers: { throughline: ENTRY },
    })
  })

  test('[CON4] what others changed meanwhile stays', () => {
    const before = '{\n  "theme": "dark"\n}\n'
    const changed = connect(gemini, before).replace('"dark"', '"light",\n  "vim": true')
    expect(gemini.remove(changed)).toBe('{\n  "theme": "light",\n  "vim": true\n}\n')
    // Another program wrote the whole file anew, with its own spaces, and put servers around ours.
    const entry = { command: '/usr/bin/node', args: ['/elsewhere/throughline.js', 'mcp'], trust: true }
    const servers = { first: { command: 'a' }, throughline: entry, last: { command: 'b' } }
    for (const order of [
      ['first', 'throughline', 'last'],
      ['throughline', 'first'],
      ['first', 'throughline'],
      ['throughline'],
    ] as const) {
      const mcpServers = Object.fromEntries(order.map((name) => [name, servers[name]]))
      const { throughline: _, ...others } = { throughline: undefined, ...mcpServers }
      for (const indent of [undefined, 2, '\t']) {
        const text = gemini.remove(JSON.stringify({ theme: 'dark', mcpServers }, undefined, indent))
        expect(JSON.parse(text ?? '')).toEqual({ theme: 'dark', mcpServers: others })
      }
    }
  })

  test("[CON5] somebody else's entry, and what cannot be read, is told and not touched", () => {
    expect(gemini.find('{"mcpServers":{"throughline":{"command":"x"}}}')).toEqual({ kind: 'foreign' })
    expect(gemini.find('{"mcpServers":{"throughline":{"httpUrl":"https://a.example"}}}')).toEqual({
      kind: 'foreign',
    })
    for (const text of [
      '[]',
      '{',
      '{"a":}',
      '{"mcpServers":[]}',
      '{"mcpServers":{},"mcpServers":{}}',
      '{} {}',
      'x',
    ]) {
      expect(gemini.find(text).kind).toBe('unclear')
    }
  })

  test('[CON3] whatever JSON is, its members are found where they are', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom(undefined, 2, '\t'),
        (object, indent) => {
          const text = JSON.stringify(object, undefined, indent)
          const found = findWhole(text)?.members.map((one) => [
            one.key,
            JSON.parse(text.slice(one.value, one.end)),
          ])
          expect(found).toEqual(Object.entries(JSON.parse(text)))
        },
      ),
      runs(200),
    )
  })
})

const line = fc.constantFrom(
  'model = "gpt-5.5"',
  '# [mcp_servers.throughline]',
  '[features]',
  '[mcp_servers.other]',
  '[ "quoted name" . b ] # why',
  '[[things]]',
  'args = ["a # b", \'[x]\', [1, 2], # [no.header]\n  "c",\n]',
  'text = """\n[mcp_servers.throughline]\n\\"""\n"""""',
  "other = '''\n[mcp_servers.throughline]\ncommand = 1\n'''",
  'inline = { a = "}", b = [1] }',
  '',
  '   ',
)
const toml = fc
  .tuple(
    fc.array(line, { maxLength: 8 }),
    fc.constantFrom('\n', '\r\n'),
    fc.constantFrom('', '\n', '\n\n', '\n \n'),
  )
  .map(([lines, end, tail]) => `${lines.join('\n')}${tail}`.replaceAll('\n', end))

describe('settings of Codex', () => {
  test('[CON3] taken back, every byte is what it was before', () => {
    fc.assert(
      fc.property(toml, (before) => {
        expect(codex.find(before)).toEqual({ kind: 'absent' })
        const after = connect(codex, before)
        expect(codex.find(after)).toEqual({ kind: 'ours', text: codex.entry(before) })
        expect(after.startsWith(before)).toBe(true)
        expect(codex.remove(after)).toBe(before)
      }),
      runs(300),
    )
    expect(codex.remove(connect(codex, undefined))).toBe(undefined)
    expect(codex.remove(connect(codex, ''))).toBe('')
  })

  test('[CON4] what others added meanwhile stays, and what Codex keeps below our table goes with it', () => {
    const before = 'model = "a"\n'
    const after = connect(codex, before)
    expect(codex.remove(after.replace('"a"', '"b"'))).toBe('model = "b"\n')
    const more =
      '\n[mcp_servers.throughline.tools.recall]\napproval_mode = "approve"\n\n# Mine.\n[projects."/w"]\ntrust_level = "trusted"\n'
    const left = codex.remove(`${after}${more}`) ?? ''
    expect(left).not.toContain('throughline')
    expect(readTables(left)?.map(({ path }) => path.join('.'))).toEqual(['', 'projects./w'])
    expect(left).toContain('# Mine.\n[projects."/w"]\ntrust_level = "trusted"\n')
    expect(left.startsWith('model = "a"\n')).toBe(true)
  })

  test("[CON5] somebody else's entry, and settings that nothing can be added to, are told and not touched", () => {
    for (const text of [
      '[mcp_servers.throughline]\ncommand = "x"\n',
      '[mcp_servers."throughline"]\nurl = "https://a.example"\n',
      '[mcp_servers]\nthroughline = { command = "x" }\n',
      '[mcp_servers]\nthroughline.command = "x"\n',
      '[mcp_servers.throughline.env]\nA = "b"\n',
    ]) {
      expect(codex.find(text)).toEqual({ kind: 'foreign' })
    }
    for (const text of [
      'mcp_servers = {}\n',
      'mcp_servers.a.command = "x"\n',
      '[open\n',
      'a = """\n',
      '= 1\n',
    ]) {
      expect(codex.find(text).kind).toBe('unclear')
    }
  })
})
