import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

const help = `npm run check

Runs every check that needs no test: format and lint, types, types of the site, import rules, contract, documents,
size of the client, changelog.
Prints a line per step, and the output of those that fail.`;

/** The longest first, because the others run in parallel with it. */
const STEPS: Readonly<Record<string, string>> = {
  'format and lint': 'format-check',
  types: 'types',
  'types of the site': 'site-types',
  contract: 'contract-check',
  documents: 'docs-check',
  imports: 'imports',
  'size of client': 'client-size',
  changelog: 'changelog-check',
};

interface Outcome {
  readonly passed: boolean;
  readonly output: string;
}

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

function run(script: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(npm, ['run', '--silent', script], { shell: process.platform === 'win32' });
    let output = '';
    const collect = (data: Buffer) => {
      output += data.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => resolve({ passed: false, output: error.message }));
    child.on('close', (code) => resolve({ passed: code === 0, output }));
  });
}

const secondsSince = (startMs: number) => `${((performance.now() - startMs) / 1000).toFixed(1)} s`;

async function check(name: string, script: string): Promise<boolean> {
  const startMs = performance.now();
  const { passed, output } = await run(script);
  console.log(`${passed ? 'ok    ' : 'FAILED'}  ${name.padEnd(16)} ${secondsSince(startMs)}`);
  if (!passed) console.log(`${output.trimEnd()}\nRepeat it with "npm run ${script}".`);
  return passed;
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { help: { type: 'boolean' } } });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const startMs = performance.now();
  const waiting = Object.entries(STEPS);
  let failed = 0;
  const work = async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) if (!(await check(...step))) failed++;
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
  console.log(failed === 0 ? `all passed in ${secondsSince(startMs)}` : `${failed} failed`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
