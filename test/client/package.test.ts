// Runs alone: it starts npm, the TypeScript compiler and Node.js.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

const folder = mkdtempSync(path.join(tmpdir(), 'modstead-client-'));
after(() => rmSync(folder, { recursive: true }));

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
console.log(JSON.stringify({ names, address: (page as unknown as { address: string }).address, error: ApiError.name }));
`;

test('the packed client compiles in an empty strict project, and runs', () => {
  const npm = (...values: string[]) => execFileSync('npm', values, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  const packed = npm('pack', path.resolve('client'), '--json', '--pack-destination', folder);
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('[\n'))) as [{ filename: string }];
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module", "private": true }');
  npm('install', '--offline', '--no-audit', '--no-fund', `./${filename}`);
  writeFileSync(path.join(folder, 'program.ts'), PROGRAM);
  const compilerOptions = {
    strict: true,
    target: 'es2023',
    module: 'nodenext',
    exactOptionalPropertyTypes: true,
    types: [],
  };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  const node = (...values: string[]) => execFileSync(process.execPath, values, { cwd: folder, encoding: 'utf8' });
  node(path.resolve('node_modules/typescript/bin/tsc'), '-p', folder);
  assert.deepEqual(JSON.parse(node('program.js')), {
    names: [],
    address: 'https://mods.example.com/v1/games/1/mods?name-lk=*castle*&_sort=-popular',
    error: 'ApiError',
  });
});
