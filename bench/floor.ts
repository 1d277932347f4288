import { statEvery, windowEvery } from './limits.ts'

/**
 * `node bench/dist/floor.js stat|windows <config dir>`: what a process costs from its start that knows nothing but
 * where transcripts are. Imports as little as it can.
 */
const [what = '', configDir = ''] = process.argv.slice(2)
const { files } = what === 'stat' ? statEvery(configDir) : windowEvery(configDir)
const { user, system } = process.cpuUsage()
process.stdout.write(`${JSON.stringify({ files, cpuMs: (user + system) / 1000 })}\n`)
