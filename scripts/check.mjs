import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { provideChromium } from './chromium.mjs'
import { provideProgram } from './debian-program.mjs'
import { provideOpencode } from './opencode.mjs'

/**
 * `npm test`: everything that must hold, one check after another, none left out because another failed. The last line
 * is `N passed, N failed`; a check that is no test counts as one.
 *
 * `npm test -- <filter>` builds and runs only the tests whose file matches.
 */
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const filter = process.argv.slice(2)

const BUILD = { title: 'Build', command: ['npm', 'run', '--silent', 'build'] }
const BEFORE_TESTS = [
  BUILD,
  { title: 'Types of the tests', command: ['tsc', '-p', 'tsconfig.test.json'] },
  { title: 'Build of the benchmark', command: ['tsc', '-b', 'bench'] },
  { title: 'Lint', command: ['oxlint', '--type-aware'] },
  { title: 'Format', command: ['oxfmt', '--check'] },
]
const AFTER_TESTS = [
  { title: 'Nothing unused (knip)', command: ['knip'] },
  { title: 'Ready to publish (publint)', command: ['publint', '--strict'] },
]

const PROGRAMS = [
  { name: 'tmux', variable: 'TMUX_PROGRAM', what: 'tests in a real terminal' },
  { name: 'jq', variable: 'JQ_PROGRAM', what: 'tests that read recordings with it' },
]

/** @type {{ passed: number, failed: number, skipped: string[], failures: { title: string, detail: string }[] }} */
const result = { passed: 0, failed: 0, skipped: [], failures: [] }

if (!existsSync(join(root, 'node_modules'))) {
  result.failed += 1
  result.failures.push({ title: 'Nothing is installed', detail: 'run npm ci first' })
} else if (filter.length > 0) {
  await runCheck(BUILD)
  await runTests(filter)
} else {
  for (const check of BEFORE_TESTS) await runCheck(check)
  await runTests([])
  for (const check of AFTER_TESTS) await runCheck(check)
}
report()

async function runCheck({ title, command }) {
  const started = heading(title, command)
  const { code, output } = await run(command, { capture: true })
  const took = secondsSince(started)
  if (code === 0) {
    result.passed += 1
    console.log(`ok (${took})`)
    return
  }
  result.failed += 1
  result.failures.push({ title: `${title}: ${command.join(' ')}`, detail: lastLines(output, 60) })
  console.log(`FAILED with exit code ${code} (${took})`)
}

async function runTests(files) {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-check-'))
  const file = join(folder, 'tests.json')
  try {
    const command = ['vitest', 'run', ...files]
    const started = heading('Tests', command)
    const chromium = provideChromium((line) => console.log(line))
    const opencode = provideOpencode(root, (line) => console.log(line))
    const programs = PROGRAMS.map((program) => provideProgram(program, (line) => console.log(line)))
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
    // Ten times the work may take ten times as long.
    const patience = process.env['RUNS'] === 'full' ? ['--testTimeout=1800000'] : []
    const { code } = await run([...command, ...patience, ...reporters], {
      env: {
        ...(chromium === undefined ? {} : { CHROMIUM: chromium }),
        ...(opencode === undefined ? {} : { OPENCODE_PROGRAM: opencode }),
        ...Object.assign({}, ...programs),
      },
    })
    const failedBefore = result.failed
    countTests(file)
    // Vitest also fails for an error outside of any test, or when there was none to run.
    if (code !== 0 && result.failed === failedBefore) {
      result.failed += 1
      result.failures.push({ title: 'Tests: vitest', detail: `exit code ${code}; see above` })
    }
    console.log(`${code === 0 ? 'ok' : 'FAILED'} (${secondsSince(started)})`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function countTests(file) {
  for (const { name, status, message, assertionResults } of readResults(file)) {
    const path = relative(root, name)
    for (const test of assertionResults) {
      const title = `${path} > ${[...test.ancestorTitles, test.title].join(' > ')}`
      if (test.status === 'passed') result.passed += 1
      else if (test.status === 'failed') {
        result.failed += 1
        result.failures.push({ title, detail: ownLines(test.failureMessages.join('\n')) })
      } else result.skipped.push(title)
    }
    // A file that could not be loaded, or whose set-up failed, has no failed test to show for it.
    if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) {
      result.failed += 1
      result.failures.push({ title: path, detail: ownLines(message ?? '') })
    }
  }
}

function readResults(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).testResults
  } catch {
    return []
  }
}

/** Runs a program of node_modules. Its output is shown as it comes, and kept when asked for. */
function run([program, ...args], { capture = false, env = {} }) {
  const inColour = process.stdout.isTTY && !process.env['NO_COLOR']
  const colour = capture ? (inColour ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' }) : {}
  const path = `${join(root, 'node_modules', '.bin')}${delimiter}${process.env['PATH']}`
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...colour, ...env, PATH: path },
    stdio: ['ignore', capture ? 'pipe' : 'inherit', capture ? 'pipe' : 'inherit'],
    shell: process.platform === 'win32',
  })
  let output = ''
  child.stdout?.on('data', (piece) => {
    output += piece
    process.stdout.write(piece)
  })
  child.stderr?.on('data', (piece) => {
    output += piece
    process.stderr.write(piece)
  })
  return new Promise((done) => {
    child.on('error', (error) => done({ code: 127, output: `${output}${error.message}` }))
    child.on('close', (code, signal) => done({ code: code ?? signal, output }))
  })
}

function heading(title, command) {
  console.log(`\n== ${title}: ${command.join(' ')}`)
  return performance.now()
}

function report() {
  const { passed, failed, skipped, failures } = result
  if (skipped.length > 0) console.log(`\n== Skipped\n${skipped.map((title) => `- ${title}`).join('\n')}`)
  if (failures.length > 0) console.log('\n== Failed')
  for (const { title, detail } of failures)
    console.log(`- ${title}\n${indent(stripVTControlCharacters(detail))}`)
  process.exitCode = failed === 0 ? 0 : 1
  console.log(
    `\n${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`,
  )
}

function secondsSince(started) {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`
}

/** A message and the lines of its stack that are ours. A test that took too long has no message of its own. */
function ownLines(text) {
  const lines = text.trim().replace('Error: STACK_TRACE_ERROR', 'Error: it took too long').split('\n')
  return lines
    .filter((line) => !/^\s+at .*(?:node_modules|node:internal|<anonymous>)/.test(line))
    .slice(0, 40)
    .join('\n')
}

function lastLines(text, count) {
  return text.trim().split('\n').slice(-count).join('\n')
}

function indent(text) {
  return text.replace(/^/gm, '    ')
}
