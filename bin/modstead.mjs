#!/usr/bin/env node
// Plain JavaScript for Node.js 20 or newer: it brings src/main.ts onto the Node.js that runs TypeScript by itself.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const LEAST_MAJOR = 26;
const isRecent = Number(process.versions.node.split('.')[0]) >= LEAST_MAJOR;

if (isRecent) {
  // Kept beside the code rather than in the shared temporary folder, where anyone could put code for us to run.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/modstead', import.meta.url)));
  await import('../src/main.ts');
} else {
  await startPinned();
}

async function startPinned() {
  const program = pinnedNode();
  if (!program) {
    console.error(
      `Modstead needs Node.js ${LEAST_MAJOR}; this is ${process.version}, and the one that "npm ci" brings is not installed: run "npm ci" first.`,
    );
    process.exit(2);
  }
  const { spawn } = await import('node:child_process');
  const child = spawn(program, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  const forward = (signal) => child.kill(signal);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, forward);
  child.on('error', (error) => {
    console.error(`${program} could not be started: ${error.message}`);
    process.exit(2);
  });
  child.on('exit', (code, signal) => {
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.off(name, forward);
    if (signal) process.kill(process.pid, signal);
    else process.exit(code ?? 1);
  });
}

/** The program of the optional dependency for this platform, if it is installed. */
function pinnedNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const { resolve } = module.createRequire(import.meta.url);
  const file = platform === 'win' ? 'bin/node.exe' : 'bin/node';
  for (const name of [`node-${platform}-${process.arch}`, `node-bin-${platform}-${process.arch}`]) {
    try {
      return resolve(`${name}/${file}`);
    } catch {
      // Not this one.
    }
  }
  return undefined;
}
