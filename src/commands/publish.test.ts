// Runs alone: it starts child processes.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApi } from '../../test/api.ts';
import { decideOnDevice } from '../../test/browser.ts';
import { type Ended, endOf, startProgram } from '../../test/commands.ts';
import { temporaryFolder } from '../../test/temporary.ts';
import { STORED, zipOf } from '../../test/zips.ts';
import { PART_BYTES } from '../platform/storage/storage.ts';

const api = await startApi();
const mod = await api.aMod();
const { token } = await api.as(mod.owner);
const config = temporaryFolder('publish-config');
const folder = temporaryFolder('publish');
writeFileSync(join(folder, 'readme.txt'), 'Read me');

const target = ['--url', `https://localhost:${api.port}`, '--game', String(mod.game_id), '--mod', String(mod.id)];
const settings = { NODE_EXTRA_CA_CERTS: api.service.certificateFile!, XDG_CONFIG_HOME: config };
const start = (args: readonly string[], more: NodeJS.ProcessEnv = { MODSTEAD_TOKEN: token }): ChildProcess =>
  startProgram(['publish', ...args], { ...settings, ...more });
const run = (args: readonly string[], more?: NodeJS.ProcessEnv): Promise<Ended> => endOf(start(args, more));

/** Resolves to the first line of standard error that matches. */
function lineOf(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    child.stderr!.setEncoding('utf8').on('data', (more) => {
      text += more;
      const line = text.split('\n').find((each) => pattern.test(each));
      if (line !== undefined) resolve(line);
    });
    child.on('close', () => reject(new Error(`no line ${pattern} in: ${text}`)));
  });
}

test('a killed upload continues when the command is run again', async (t) => {
  const archive = join(temporaryFolder('publish-large'), 'large.zip');
  const content = randomBytes(PART_BYTES + 1_000);
  writeFileSync(archive, zipOf([{ name: 'data.bin', content, method: STORED }]));
  const { assemblies } = api.app().storage;
  const { putPart } = assemblies;
  const killed = Promise.withResolvers<void>();
  // The first part is not stored before the process is gone, however slow this machine is.
  const held = t.mock.method(assemblies, 'putPart', async (...given: Parameters<typeof putPart>) => {
    if (given[1].number === 1) await killed.promise;
    return putPart.apply(assemblies, given);
  });
  const child = start([archive, ...target]);
  await lineOf(child, /^Uploaded [1-9]/);
  child.kill('SIGKILL');
  await once(child, 'close');
  killed.resolve();
  held.mock.restore();
  const { code, out, err } = await run([archive, ...target, '--version', '2.0.0', '--json']);
  assert.equal(code, 0, `${err}${out}`);
  const bytes = statSync(archive).size;
  const stored = [...err.matchAll(/^Uploaded .*\((\d+)%\)/gm)].map(([, each]) => Number(each));
  assert.match(err, /^Uploaded 1\.1 kB of 52\.4 MB \(0%\)\.$/m);
  assert.equal(stored.at(-1), 100, err);
  const { state, filesize, is_uploaded } = JSON.parse(out);
  assert.deepEqual({ state, filesize, is_uploaded }, { state: 'published', filesize: bytes, is_uploaded: true });
});

test('a sign-in with the browser is stored for its owner alone, and is used by the next run', async () => {
  const child = start([folder, ...target, '--sign-in', '--dry-run'], {});
  const ended = endOf(child);
  const line = await lineOf(child, /^To sign in, open/);
  await decideOnDevice(api, /code=(\S+)/.exec(line)![1]!, 'allow', 'publisher@example.org');
  assert.equal((await ended).code, 0, (await ended).err);
  const stored = join(config, 'modstead', 'tokens', readdirSync(join(config, 'modstead', 'tokens'))[0]!);
  assert.equal(statSync(stored).mode & 0o777, 0o600);
  // The clock of the service stands still, so its token may have expired long ago.
  const signIn = JSON.parse(readFileSync(stored, 'utf8'));
  writeFileSync(stored, JSON.stringify({ ...signIn, dateExpires: 9_999_999_999 }));
  assert.equal((await run([folder, ...target, '--dry-run'], {})).code, 0);
});

/** An address where nothing listens. */
async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return `https://localhost:${port}`;
}

test('every way to fail has its own exit code, and JSON says why', async () => {
  const json = async (args: readonly string[], more?: NodeJS.ProcessEnv) => {
    const { code, out } = await run([folder, ...args, '--json'], more);
    const { ok, exit_code, ...rest } = JSON.parse(out);
    assert.deepEqual([ok, exit_code], [false, code]);
    return { code, ...rest } as { code: number; reason: string; error_ref?: number; fields?: Record<string, string> };
  };
  const nobody = { XDG_CONFIG_HOME: temporaryFolder('publish-nobody') };
  const [usage, signIn, token, refused, network, plain] = await Promise.all([
    json(target.slice(0, 2)),
    json(target, nobody),
    json(target, { MODSTEAD_TOKEN: 'of nobody' }),
    json([...target, '--summary', 'x'.repeat(5_000)]),
    json(['--url', await closedAddress(), ...target.slice(2)]),
    run([folder, ...target, '--summary', 'x'.repeat(5_000)]),
  ]);
  assert.deepEqual([usage.code, usage.reason], [2, '"publish" needs game and mod, in modstead.json or as an option.']);
  assert.deepEqual([signIn.code, token.code, token.error_ref], [3, 3, 11_005]);
  assert.deepEqual([refused.code, Object.keys(refused.fields!)], [4, ['summary']]);
  assert.equal(network.code, 7);
  assert.match(network.reason, /cannot be reached .*ECONNREFUSED/);
  assert.deepEqual([plain.code, plain.out], [4, '']);
  assert.ok(plain.err.includes(refused.fields!['summary']!), plain.err);
});

test('the command loads nothing of the service and none of its dependencies', async () => {
  const watch = `import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => { console.error(url); return next(url, context); } });`;
  const { err } = await run([folder, ...target], {
    MODSTEAD_TOKEN: 'any',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(watch)}`,
  });
  const loaded = err.split('\n').flatMap(sourcesOf).join('\n');
  assert.match(loaded, /client\/src\/calls\/client\.ts/);
  assert.doesNotMatch(
    loaded,
    /kysely|node_modules\/(pg|zod|sharp)\/|platform\/(database|http|storage\/storage)|node:sqlite/,
  );
});

/** A module of the program's bundle consists of several sources. */
function sourcesOf(module: string): string[] {
  if (!module.startsWith('file:') || !existsSync(new URL(`${module}.map`))) return [module];
  return JSON.parse(readFileSync(new URL(`${module}.map`), 'utf8')).sources;
}
