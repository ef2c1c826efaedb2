// Plain JavaScript for Node.js 20 or newer: it starts a TypeScript file on the pinned Node.js. npm 10 links no `node`
// when several optional packages offer one, so no script may rely on PATH.
import module from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleOf } from './bundle.mjs';
import { HEAP } from './heap.mjs';

const LEAST_MAJOR = 26;
// It has `net.BoundSocket`.
const LEAST_MINOR = 4;
const [major, minor] = process.versions.node.split('.').map(Number);
const isRecent = major > LEAST_MAJOR || (major === LEAST_MAJOR && minor >= LEAST_MINOR);
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'];

/** Imports `file` if this process is recent enough, and otherwise starts `launcher` with the arguments in one that is. */
export async function importPinned(file, launcher, values) {
  if (!isRecent) return startPinned([launcher, ...values], HEAP);
  // Beside the code, not in the shared temporary folder, where any user could plant code for us to run.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/modstead', import.meta.url)));
  const bundle = bundleOf(file);
  if (!bundle) await import('./own-modules.mjs');
  await import(bundle ?? pathToFileURL(path.resolve(file)).href);
}

/** Starts a file with its arguments as the main module of a new process. */
export async function startPinned(values, env = {}) {
  const program = isRecent ? process.execPath : pinnedNode();
  if (!program) {
    console.error(
      `Modstead needs Node.js ${LEAST_MAJOR}.${LEAST_MINOR}; this is ${process.version}, and the one that "npm ci" installs is missing: run "npm ci" first.`,
    );
    process.exit(2);
  }
  const { spawn } = await import('node:child_process');
  const child = spawn(program, values, { stdio: 'inherit', env: { ...env, ...process.env } });
  const forward = (signal) => child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, forward);
  child.on('error', (error) => {
    console.error(`${program} could not be started: ${error.message}`);
    process.exit(2);
  });
  child.on('exit', (code, signal) => {
    for (const name of SIGNALS) process.off(name, forward);
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
      // This package is not installed.
    }
  }
  return undefined;
}
