// Runs alone: it starts npm, the TypeScript compiler and Node.js.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../temporary.ts';
import { examples, GIVEN } from './readme.ts';

const folder = temporaryFolder('client-package');

const PROGRAM = `
import { ApiError, createClient, type ErrorOf, type Mod } from '@modstead/client';
import { MOD_NOT_FOUND } from '@modstead/client/error-refs';

const client = createClient({
  url: 'https://mods.example.com',
  fetch: async (input) => Response.json({ data: [], address: String(input), result_count: 0, result_offset: 0, result_limit: 1, result_total: 0 }),
});
const page = await client.call('GET /games/{game_id}/mods', { game_id: 1, 'name-lk': '*castle*', _sort: '-popular' });
const names: string[] = page.data.map((mod: Mod) => mod.name);
export const isMissing = (error: ErrorOf<'GET /games/{game_id}/mods/{mod_id}'>): boolean => error.errorRef === MOD_NOT_FOUND;
// @ts-expect-error There is no such sort.
void (() => client.call('GET /games/{game_id}/mods', { game_id: 1, _sort: 'colour' }));
const { downloadToFile } = await import('@modstead/client/node');
const worker = import.meta.resolve('@modstead/client/md5-worker');
console.log(JSON.stringify({
  names,
  address: (page as unknown as { address: string }).address,
  error: ApiError.name,
  download: downloadToFile.name,
  worker: worker.replace(/.*\\/node_modules\\//, ''),
}));
`;

const STRICT = {
  strict: true,
  target: 'es2023',
  module: 'nodenext',
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
};

const run = (program: string, ...values: string[]) =>
  execFileSync(program, values, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });

function compile(name: string, options: object, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
  const project = path.join(folder, `${name}.json`);
  writeFileSync(project, JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files: Object.keys(files) }));
  try {
    run(process.execPath, path.resolve('node_modules/typescript/bin/tsc'), '-p', project);
  } catch (error) {
    assert.fail((error as { stdout: string }).stdout);
  }
}

test('the packed client compiles in an empty strict project and runs, and so do the examples of its README', () => {
  const packed = run('npm', 'pack', path.resolve('client'), '--json', '--pack-destination', folder);
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[\n'))) as [{ filename: string }];
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module", "private": true }');
  // It has no dependencies, so npm would do no more.
  const installed = path.join(folder, 'node_modules/@modstead/client');
  mkdirSync(installed, { recursive: true });
  run('tar', '-xzf', filename, '-C', installed, '--strip-components=1');
  compile('program', { types: [] }, { 'program.ts': PROGRAM });
  assert.deepEqual(JSON.parse(run(process.execPath, 'program.js')), {
    names: [],
    address: 'https://mods.example.com/v1/games/1/mods?name-lk=*castle*&_sort=-popular',
    error: 'ApiError',
    download: 'downloadToFile',
    worker: '@modstead/client/dist/downloads/md5-worker.js',
  });
  const named = examples().map((code, index) => [`example-${index}.ts`, code]);
  const nodeTypes = { noEmit: true, types: ['node'], typeRoots: [path.resolve('node_modules/@types')] };
  compile('examples', nodeTypes, { 'given.d.ts': GIVEN, ...Object.fromEntries(named) });
});
