import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { prettyLine } from './pretty-log.ts';

const help = `npm run dev [-- OPTION…]

Runs "serve --demo", restarts it when a file it imports changes, and prints its log for people instead of programs.
Options are passed on to "serve". Unless the environment sets them, MODSTEAD_LOG=debug logs every request and
MODSTEAD_DRAIN_SECONDS=0 restarts without waiting for running requests.`;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function run(options: readonly string[]): void {
  const child = spawn(
    process.execPath,
    // Without a bundle, whose files do not change when a source does.
    [
      '--watch',
      '--watch-preserve-output',
      '--import=./bin/own-modules.mjs',
      'src/main.ts',
      'serve',
      '--demo',
      ...options,
    ],
    {
      env: { MODSTEAD_LOG: 'debug', MODSTEAD_DRAIN_SECONDS: '0', ...process.env },
      stdio: ['inherit', 'inherit', 'pipe'],
    },
  );
  createInterface({ input: child.stderr }).on('line', (line) => process.stderr.write(`${prettyLine(line)}\n`));
  // The terminal sends Ctrl-C to the child as well, so this process only has to outlive it.
  for (const signal of SIGNALS) process.on(signal, () => signal !== 'SIGINT' && child.kill(signal));
  child.on('exit', (code) => {
    process.exitCode = code ?? 0;
  });
}

const { values, tokens } = parseArgs({ options: { help: { type: 'boolean' } }, strict: false, tokens: true });
if (values['help']) console.log(help);
else run(tokens.length > 0 ? process.argv.slice(2) : []);
