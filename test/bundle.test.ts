import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bundleOf, MANIFEST } from '../bin/bundle.mjs';
import { sourceTrace } from '../src/platform/runtime/stack-traces.ts';
import { bundleInto } from '../tools/bundling.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '..');
const MAIN = join(ROOT, 'src/main.ts');

/** Beside the sources, as `build` is, because the bundled program finds its texts there. */
let folder: string;
before(async () => {
  folder = `${mkdtempSync(join(ROOT, '.bundle-'))}/`;
  await bundleInto(folder);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const manifest = () => JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8'));
const modules = () => readdirSync(folder).filter((name) => name.endsWith('.mjs'));

test('a bundle is used until a source is another one', () => {
  const whole = manifest();
  const withSources = (sources: Record<string, string>) => {
    writeFileSync(join(folder, MANIFEST), JSON.stringify({ ...whole, sources: { ...whole.sources, ...sources } }));
    return bundleOf(MAIN, folder);
  };
  assert.equal(withSources({}), pathToFileURL(join(folder, whole.entries['src/main.ts'])).href);
  assert.equal(withSources({ 'src/commands/serve.ts': '1 1' }), undefined, 'a source has changed');
  assert.equal(withSources({ [join('src', 'gone.ts')]: '1 1' }), undefined, 'a source is gone');
  withSources({});
  assert.equal(bundleOf(join(ROOT, 'tools/check.ts'), folder), undefined, 'no entry');
  assert.equal(bundleOf(MAIN, join(folder, 'none/')), undefined, 'no bundle');
});

test('all modules of a bundle can be loaded, also those that wait until they are needed', async () => {
  const entries = Object.values<string>(manifest().entries);
  const later = modules().filter((name) => !entries.includes(name));
  assert.ok(later.length > 50, `${later.length} modules`);
  const file = join(folder, 'load-all.js');
  writeFileSync(file, `${later.map((name) => `await import('./${name}');\n`).join('')}process.exit(0);`);
  await run(process.execPath, [file]);
});

test('a bundled program finds its texts, and says what fails', async () => {
  const main = join(folder, manifest().entries['src/main.ts']);
  const { stdout } = await run(process.execPath, [main, '--version']);
  assert.equal(stdout.trim(), JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version);
  const refused = run(process.execPath, [main, 'serve'], { env: { ...process.env, MODSTEAD_PORT: 'none' } });
  await assert.rejects(refused, { code: 2, stderr: /MODSTEAD_PORT/ });
});

test('stack traces name sources', () => {
  const bundled = placeOf('ApiError = class');
  const source = `${pathToFileURL(join(ROOT, 'src/platform/errors/catalogue.ts')).href}:\\d+:\\d+`;
  const trace = sourceTrace(
    `Error: no\n    at raise (${bundled})\n    at node:internal/process:1:1\n    at ${bundled}`,
  );
  assert.match(
    trace,
    new RegExp(`^Error: no\n    at raise \\(${source}\\)\n    at node:internal/process:1:1\n    at ${source}$`),
  );
  const unknown = '    at later (file:///nowhere/module.mjs:1:1)';
  assert.equal(sourceTrace(unknown), unknown);
});

function placeOf(text: string): string {
  for (const name of modules()) {
    const lines = readFileSync(join(folder, name), 'utf8').split('\n');
    const line = lines.findIndex((each) => each.includes(text));
    if (line !== -1) return `${pathToFileURL(join(folder, name)).href}:${line + 1}:${lines[line]!.indexOf(text) + 1}`;
  }
  throw new Error(`no module contains ${text}`);
}
