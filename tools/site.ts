import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ensureSite } from '../src/commands/site-build.ts';

const help = `npm run site, npm run site-types

Builds the site, unless its build is current; "npm ci" and "npm start" do the same. With --types it checks the types of
the site's pages instead, which only the compiler of Svelte can read.`;

const { resolve } = createRequire(path.resolve('site/package.json'));
const run = (program: string, ...values: string[]) =>
  spawnSync(process.execPath, [path.resolve(resolve(program), '..', ...values.splice(0, 1)), ...values], {
    cwd: 'site',
    stdio: 'inherit',
  }).status ?? 1;

function checkTypes(): number {
  // Generates the types of the routes.
  const failed = run('@sveltejs/kit/package.json', 'svelte-kit.js', 'sync');
  return failed || run('svelte-check/package.json', 'bin/svelte-check', '--tsconfig', './tsconfig.json');
}

const { values } = parseArgs({ options: { help: { type: 'boolean' }, types: { type: 'boolean' } } });
if (values.help) console.log(help);
else if (values.types) process.exitCode = checkTypes();
else await ensureSite((line) => console.error(line));
