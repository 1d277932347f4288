export type { ArgSpec, CommandSpec, Example, OptionSpec, Variable } from './command.ts'
export { commands, everywhere, variables } from './commands.ts'
