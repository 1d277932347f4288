import { expect, test } from 'vitest'
import { findAgentMode, readModes, toMode, type AgentMode } from './session-modes.ts'

function mode(id: string, name = id, description?: string): AgentMode {
  return { id, name, description }
}

test.each([
  [mode('read-only', 'Read-only'), 'default'],
  [mode('workspace-write', 'Workspace access'), 'accept-edits'],
  [mode('agent', 'Auto review', 'Only ask for actions detected as potentially unsafe'), 'bypass'],
  [mode('agent-full-access', 'Full access'), 'bypass'],
  [mode('default', 'Default'), 'default'],
  [mode('autoEdit', 'Auto Edit'), 'accept-edits'],
  [mode('yolo', 'YOLO', 'Auto-approves all tools'), 'bypass'],
  [mode('acceptEdits', 'Accept Edits', 'Edits files without asking'), 'accept-edits'],
  [mode('bypassPermissions', 'Bypass Permissions'), 'bypass'],
  [mode('dontAsk', "Don't Ask"), 'bypass'],
  [mode('auto', 'Auto'), 'bypass'],
  [mode('build'), 'default'],
  [mode('plan', 'Plan'), 'plan'],
  [mode('turbo', 'Turbo', 'Works without asking'), 'bypass'],
  [mode('never-ask', 'Default'), 'bypass'],
  [mode('architect', 'Architect'), undefined],
])('[DRV52] what a mode of an agent means here: %o is %s', (given, ours) => {
  expect(toMode(given)).toBe(ours)
})

test('[DRV52] a mode that asks nobody is never taken for one that asks', () => {
  const modes = { current: 'yolo', available: [mode('yolo'), mode('architect')], configId: undefined }
  expect(findAgentMode(modes, 'default')).toBeUndefined()
  expect(findAgentMode(modes, 'accept-edits')).toBeUndefined()
  expect(findAgentMode(modes, 'bypass')?.id).toBe('yolo')
  expect(findAgentMode({ ...modes, current: 'architect' }, 'default')?.id).toBe('architect')
})

test('[DRV52] modes are read wherever an agent keeps them', () => {
  const configOptions = [
    {
      id: 'the-mode',
      category: 'mode',
      currentValue: 'yolo',
      options: [
        { name: 'Group', options: [{ value: 'yolo', name: 'YOLO' }] },
        { value: 'default', name: 'Default' },
      ],
    },
  ]
  expect(readModes({ configOptions })).toMatchObject({
    current: 'yolo',
    configId: 'the-mode',
    available: [{ id: 'yolo' }, { id: 'default' }],
  })
  const before = readModes({ modes: { currentModeId: 'a', availableModes: [{ id: 'a', name: 'A' }] } })
  expect(readModes({ configOptions }, before)).toMatchObject({ current: 'yolo', configId: undefined })
  expect(readModes({ modes: 7, configOptions: 'x' }, before)).toEqual(before)
})
