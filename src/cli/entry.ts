#!/usr/bin/env node
// Loaded first and alone: what the rest imports does not link in a Node that is too old, which would be a stack of its
// loader instead of an answer.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `error: Throughline needs Node 20.19 or later; this is Node ${process.versions.node} (${process.execPath})\n` +
      'next: Install a newer Node from https://nodejs.org, or choose one with your version manager (`nvm install 22`).\n',
  )
  process.exitCode = 1
} else {
  void import('./main.ts')
}
