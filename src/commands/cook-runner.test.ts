// Runs alone: it starts child processes.
// Runs on one database: the runner talks to the API alone.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { startApi } from '../../test/api.ts';
import { aCookingGame, aRunner, aSource, cooksOf, gamePath, metadataOf, modPath } from '../../test/cooking.ts';
import { hashOf } from '../../test/uploads.ts';
import { STORED, zipOf } from '../../test/zips.ts';
import { composeWorker } from '../composition/compose.ts';
import { cookingSasToken, finalizeCloudCooking, uploadCookBuild } from '../files/builds/operations.ts';
import { cancelCookOperation } from '../files/cooks/operations.ts';
import { getModfile } from '../files/modfiles/operations.ts';
import { PART_BYTES } from '../platform/storage/storage.ts';
import { runCooks } from './cooking/runner.ts';
import { CookService } from './cooking/service.ts';

const PROGRAM = resolve('bin/modstead.mjs');
const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const folder = mkdtempSync(join(tmpdir(), 'modstead-cook-runner-'));
after(() => rmSync(folder, { recursive: true, force: true }));
setDefaultCACertificates([...getCACertificates(), readFileSync(api.service.certificateFile!, 'utf8')]);

/** A program of the studio: Node.js with this text as its script. */
function program(text: string): string[] {
  const file = join(folder, `${api.unique('cook').replace(' ', '-')}.mjs`);
  writeFileSync(file, `import { copyFileSync, existsSync, writeFileSync } from 'node:fs';\n${text}`);
  return [process.execPath, file];
}

function start(secret: string, words: readonly string[], options: readonly string[] = ['--once']): ChildProcess {
  const url = `https://localhost:${api.port}/v1`;
  return spawn(
    process.execPath,
    [PROGRAM, 'cook-runner', '--url', url, '--folder', folder, ...options, '--', ...words],
    {
      env: { ...process.env, COOK_RUNNER_SECRET: secret, NODE_EXTRA_CA_CERTS: api.service.certificateFile! },
    },
  );
}

async function run(secret: string, words: readonly string[], options?: readonly string[]) {
  const child = start(secret, words, options);
  let [out, err] = ['', ''];
  child.stdout!.on('data', (text) => (out += text));
  child.stderr!.on('data', (text) => (err += text));
  const code = await new Promise((done) => child.on('close', done));
  return { code, out, err };
}

/** In this process, because starting one takes a second. */
async function cook(secret: string, words: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const service = new CookService(`https://localhost:${api.port}/v1`, secret);
  const wishes = { platforms: [], words, folder, once: true, say: (text: string) => void lines.push(text) };
  await runCooks(service, wishes, new AbortController().signal);
  return lines.join('\n');
}

const COPY = `const [source, output] = process.argv.slice(2);
console.log('Cooking for', process.env.COOK_PLATFORM, process.env.COOK_RUNNER_SECRET ?? 'without a secret');
console.log('progress: 50');
copyFileSync(source, output);`;

test('the runner runs the studio’s program for pending cooks, and uploads the result and the log', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { secret } = await aRunner(api, game, ['ps5', 'switch']);
  const source = await aSource(api, mod);
  const { code, out, err } = await run(secret, program(COPY));
  assert.deepEqual([code, err], [0, '']);
  assert.equal(out.match(/it is done\./g)?.length, 2, out);
  for (const cook of await cooksOf(api, mod)) {
    assert.deepEqual([cook.status, cook.logs], [2, [`Cooking for ${cook.platform} without a secret`]]);
    const params = { ...modPath(mod), file_id: Number(metadataOf(cook, 'result')) };
    const { body } = await (await api.as(mod.owner)).call(getModfile, { params });
    assert.equal(body.filehash.sha256, source.filehash.sha256);
  }
});

test('a program that fails, writes nothing or does not exist fails its cook or has it retried', async () => {
  const game = await aCookingGame(api);
  const { secret } = await aRunner(api, game);
  const outcomeOf = async (words: readonly string[]) => {
    const mod = await api.aMod({ game });
    await aSource(api, mod);
    await cook(secret, words);
    const [done] = await cooksOf(api, mod);
    return [done!.status, metadataOf(done!, 'error'), metadataOf(done!, 'attempt'), done!.logs.at(-1)];
  };
  assert.deepEqual(await outcomeOf(program("console.error('no mesh'); process.exit(1)")), [
    3,
    'failed',
    '1',
    'no mesh',
  ]);
  assert.deepEqual(await outcomeOf(program('process.exit(75)')), [3, 'failed', '3', undefined]);
  assert.match(String((await outcomeOf(program('')))[3]), /wrote no/);
  assert.match(String((await outcomeOf([join(folder, 'nothing')]))[3]), /ENOENT/);
  const broken = await outcomeOf(program("writeFileSync(process.argv[3], 'no archive')"));
  assert.deepEqual(broken.slice(0, 3), [3, 'failed', '1']);
  assert.match(String(broken[3]), /zip archive/);
});

test('a program gets the path of the studio’s build', async () => {
  const game = await aCookingGame(api);
  const owner = await api.as(game.owner);
  const { build_id, url } = (await owner.call(cookingSasToken, { params: gamePath(game) })).body;
  const bytes = zipOf({ 'cook.exe': 'program' });
  const params = { build_id, build_signature: url.split('/').at(-1)! };
  await api.nobody().call(uploadCookBuild, { params, raw: bytes });
  await composeWorker(api.app()).runDue();
  assert.equal((await owner.call(finalizeCloudCooking, { params: gamePath(game) })).status, 204);
  const mod = await api.aMod({ game });
  const { secret } = await aRunner(api, game);
  await aSource(api, mod, { platforms: ['ps5'] });
  await cook(secret, program('copyFileSync(process.env.COOK_BUILD, process.env.COOK_OUTPUT);'));
  const [done] = await cooksOf(api, mod);
  const file = { params: { ...modPath(mod), file_id: Number(metadataOf(done!, 'result')) } };
  const { body } = await (await api.as(mod.owner)).call(getModfile, file);
  assert.equal(body.filehash.sha256, hashOf('sha256', bytes));
});

test('a large result is uploaded in parts', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { secret } = await aRunner(api, game);
  await aSource(api, mod);
  const bytes = zipOf([{ name: 'a.pak', content: Buffer.alloc(PART_BYTES + 1_000, 7), method: STORED }]);
  const large = join(folder, 'large.zip');
  writeFileSync(large, bytes);
  const printed = await cook(secret, program(`copyFileSync(${JSON.stringify(large)}, process.argv[3]);`));
  assert.match(printed, /it is done/);
  const [done] = await cooksOf(api, mod);
  const file = { params: { ...modPath(mod), file_id: Number(metadataOf(done!, 'result')) } };
  const { body } = await (await api.as(mod.owner)).call(getModfile, file);
  assert.equal(body.filehash.sha256, hashOf('sha256', bytes));
});

/** Resolves when the runner prints this. */
function said(child: ChildProcess, what: RegExp): Promise<void> {
  let out = '';
  return new Promise((done) =>
    child.stdout!.on('data', (text) => {
      out += text;
      if (what.test(out)) done();
    }),
  );
}

test('a runner that is stopped returns its cook to the queue, and one that is killed loses it with its lease', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { secret, client } = await aRunner(api, game);
  await aSource(api, mod);
  const forever = program('setInterval(() => {}, 1_000);');
  const polite = start(secret, forever, []);
  await said(polite, /^Cooking/);
  polite.kill('SIGTERM');
  await new Promise((done) => polite.on('close', done));
  const [back] = await cooksOf(api, mod);
  assert.deepEqual([back!.status, metadataOf(back!, 'attempt')], [0, '1']);

  const crashed = start(secret, program(`process.kill(process.ppid, 'SIGKILL');`), []);
  await new Promise((done) => crashed.on('close', done));
  const [held] = await cooksOf(api, mod);
  assert.deepEqual([held!.status, metadataOf(held!, 'attempt')], [1, '2']);
  api.clock.advance(120);
  const { body } = await client
    .send('POST', '/cook-runner/claims')
    .then((answer) => answer as { body: { claim: unknown } });
  assert.ok(body.claim);
});

test('a runner stops the program when its cook is cancelled', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const { secret } = await aRunner(api, game);
  await aSource(api, mod);
  const child = start(secret, program(`setInterval(() => console.log('still here'), 50);`));
  const isOver = said(child, /cancelled, or assigned to another runner/);
  await said(child, /^Cooking/);
  const [cook] = await cooksOf(api, mod);
  const params = { ...modPath(mod), cook_uuid: cook!.cook_uuid };
  assert.equal((await (await api.as(mod.owner)).call(cancelCookOperation, { params })).body.status, 4);
  await isOver;
  await new Promise((done) => child.on('close', done));
});

test('an invalid secret and a missing option are reported', async () => {
  const wrong = await run('ckrun_made-up', ['true']);
  assert.deepEqual([wrong.code, wrong.out], [1, '']);
  assert.match(wrong.err, /does not know this runner/);
  assert.equal((await run('x', [])).code, 2);
  assert.match((await run('x', ['true'], ['--platform', 'amiga'])).err, /--platform must be one of/);
});
