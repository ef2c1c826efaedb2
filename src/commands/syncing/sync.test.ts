// Runs alone: it starts programs and kills them.
// Runs on one database: it tests a client of the API.
import assert from 'node:assert/strict';
import {
  existsSync,
  watch as followFiles,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Mod, startApi } from '../../../test/api.ts';
import { clientOf } from '../../../test/client/fetching.ts';
import { endOf, startProgram } from '../../../test/commands.ts';
import { temporaryFolder } from '../../../test/temporary.ts';
import { zipOf } from '../../../test/zips.ts';
import { addModDependencies } from '../../catalogue/dependencies/operations.ts';
import { deleteModOperation } from '../../catalogue/mods/operations.ts';
import { addCollectionOperation, deleteCollectionMods } from '../../community/collections/operations.ts';
import { subscribeToMod } from '../../community/subscriptions/operations.ts';
import { wordsIn } from '../invocation/messages.ts';
import { lockFolder } from './lock.ts';
import { Mirror } from './mirror.ts';
import { unpack } from './unpacking.ts';
import { type Syncing, sync } from './updating.ts';
import type { Selection } from './wanted-mods.ts';
import { watch } from './watching.ts';

/** The program follows links, so they have to name the port that the service listens on. */
const port = await new Promise<number>((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port: free } = server.address() as AddressInfo;
    server.close(() => resolve(free));
  });
});
const ports = { MODSTEAD_PORT: String(port), MODSTEAD_PUBLIC_PORT: String(port) };
const api = await startApi({ settings: ports });
const game = await api.aGame({ settings: { dependency_option: 3 } });
const team = await api.as(game.owner);
const params = { game_id: game.id };
const byKey = clientOf(api, { key: game.api_key });

async function aMod(content: string): Promise<Mod> {
  const mod = await api.aMod({ game, owner: game.owner });
  await update(mod, content);
  return mod;
}
const update = (mod: Mod, content: string) =>
  api.aFile(mod, { archive: zipOf({ 'mod.txt': content, 'data/more.txt': content.repeat(1_000) }) });
const ofMods = (...mods: Mod[]): Selection => ({ kind: 'mods', mods: mods.map(({ id }) => id) });
const aFolder = () => join(temporaryFolder('sync'), 'mods');

async function syncingTo(folder: string, selection: Selection, more: Partial<Syncing> = {}): Promise<Syncing> {
  const mirror = more.mirror ?? new Mirror(folder, { zips: false });
  await mirror.prepare();
  const { signal } = new AbortController();
  return { client: byKey, gameId: game.id, selection, mirror, isDryRun: false, signal, ...more };
}
const synced = async (folder: string, selection: Selection, more: Partial<Syncing> = {}) =>
  sync(await syncingTo(folder, selection, more));
const shown = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name !== 'modstead-sync.json')
    .sort();
const textOf = (folder: string, { id, name_id }: Mod) =>
  readFileSync(join(folder, `${id}-${name_id}`, 'mod.txt'), 'utf8');
const names = (...mods: Mod[]) => mods.map(({ id, name_id }) => `${id}-${name_id}`).sort();

test('a folder mirrors a list with its dependencies, follows updates, and drops what left', async () => {
  const [one, needed, two] = [await aMod('one'), await aMod('needed'), await aMod('two')];
  await team.call(addModDependencies, { params: { ...params, mod_id: one.id }, body: { dependencies: [needed.id] } });
  const folder = aFolder();
  const planned = await synced(folder, ofMods(one, two), { isDryRun: true });
  assert.deepEqual(planned.added, names(one, needed, two));
  assert.ok(!existsSync(folder));
  await synced(folder, ofMods(one, two));
  assert.deepEqual(shown(folder), names(one, needed, two));
  assert.equal(textOf(folder, needed), 'needed');
  await update(two, 'newer');
  const after = await synced(folder, ofMods(two));
  assert.deepEqual([after.added, after.updated, after.removed], [[], names(two), names(one, needed)]);
  assert.deepEqual(shown(folder), names(two));
  assert.equal(textOf(folder, two), 'newer');
  const again = await synced(folder, ofMods(two));
  assert.deepEqual([again.added, again.updated, again.removed, again.exit_code], [[], [], [], 0]);
});

test('collections and subscriptions are mirrored, as archives if wanted, and missing mods are named', async () => {
  const [one, two, empty] = [await aMod('one'), await aMod('two'), await api.aMod({ game, owner: game.owner })];
  const mod_ids = [one.id, two.id];
  const { id } = (await team.call(addCollectionOperation, { params, body: { name: 'Event', mod_ids } })).body;
  const folder = aFolder();
  const mirror = new Mirror(folder, { zips: true });
  await synced(folder, { kind: 'collection', id }, { mirror });
  assert.deepEqual(
    shown(folder),
    names(one, two).map((name) => `${name}.zip`),
  );
  await team.call(deleteCollectionMods, {
    params: { ...params, collection_id: id },
    body: { mod_ids: [two.id] } as never,
  });
  await synced(folder, { kind: 'collection', id }, { mirror });
  assert.deepEqual(
    shown(folder),
    names(one).map((name) => `${name}.zip`),
  );

  const player = await api.as(await api.aUser());
  await player.call(subscribeToMod, { params: { ...params, mod_id: two.id } });
  const other = aFolder();
  await synced(other, { kind: 'subscriptions' }, { client: clientOf(api, { token: player.token }) });
  assert.deepEqual(shown(other), names(two));
  const { missing, exit_code } = await synced(other, { kind: 'mods', mods: [two.id, empty.id, 'nothing'] });
  assert.deepEqual([missing.map(({ mod }) => mod), exit_code], [[empty.id, 'nothing'], 6]);
  await team.call(deleteModOperation, { params: { ...params, mod_id: two.id } });
  assert.deepEqual((await synced(other, ofMods(two))).removed, names(two));
});

test('a file that differs from what is published changes nothing, and an interrupted download continues', async () => {
  const mod = await aMod('whole');
  const folder = aFolder();
  const plain = byKey.options.fetch!;
  const ranges: (string | null)[] = [];
  const sabotage =
    (change: (response: Response) => Promise<Response>): typeof fetch =>
    async (input, init) => {
      const response = await plain(input, init);
      if (!String(input).includes('/download')) return response;
      ranges.push(new Request(input, init).headers.get('range'));
      return change(response);
    };
  const damaged = byKey.with({
    fetch: sabotage(async (response) => new Response(Buffer.from(await response.arrayBuffer()).fill(0, 40, 44))),
  });
  await assert.rejects(synced(folder, ofMods(mod), { client: damaged }), { name: 'Unusable' });
  assert.ok(!existsSync(folder));
  const broken = byKey.with({
    retry: { wait: async () => {} },
    fetch: sabotage(async (response) =>
      ranges.length > 2
        ? response
        : new Response((await response.arrayBuffer()).slice(0, 50), { status: response.status }),
    ),
  });
  ranges.length = 0;
  await synced(folder, ofMods(mod), { client: broken });
  assert.deepEqual(ranges, [null, 'bytes=50-', 'bytes=100-']);
  assert.equal(textOf(folder, mod), 'whole');
});

test('a folder with other content, a folder in use, and an unsafe archive are refused', async () => {
  const mod = await aMod('one');
  const folder = aFolder();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'own.txt'), 'mine');
  await assert.rejects(synced(folder, ofMods(mod)), /folder_foreign/);
  const filled = aFolder();
  const syncing = await syncingTo(filled, ofMods(mod));
  mkdirSync(filled);
  writeFileSync(join(filled, 'own.txt'), 'mine');
  await assert.rejects(sync(syncing), { code: 'ENOTEMPTY' });
  assert.deepEqual(readdirSync(filled), ['own.txt'], 'what came there meanwhile stays');
  const { state } = new Mirror(aFolder(), { zips: false });
  {
    await using _ = await lockFolder(state);
    await assert.rejects(lockFolder(state), { exitCode: 8 });
  }
  await (await lockFolder(state))[Symbol.asyncDispose]();
  const place = temporaryFolder('unsafe');
  for (const [name, archive] of [
    ['path', zipOf({ '../outside.txt': 'x' })],
    ['absolute', zipOf({ '/outside.txt': 'x' })],
    ['bomb', zipOf({ 'zeros.bin': Buffer.alloc(80 * 1024 * 1024) })],
    ['none', Buffer.from('no archive')],
  ] as const) {
    writeFileSync(join(place, `${name}.zip`), archive);
    const target = join(place, name);
    await assert.rejects(unpack(join(place, `${name}.zip`), target, join(place, 'temporary')), { name: 'Unusable' });
    assert.ok(!existsSync(target) && !existsSync(join(place, 'outside.txt')), name);
  }
});

const argsFor = (folder: string, mods: readonly Mod[]) => [
  ...['sync', folder, '--url', `https://localhost:${api.port}`, '--game', String(game.id)],
  ...mods.flatMap(({ id }) => ['--mod', String(id)]),
];

/** Not every system finds the names below localhost. */
function settingsOfProgram() {
  const resolver = join(temporaryFolder('resolver'), 'resolver.mjs');
  writeFileSync(
    resolver,
    `import dns from 'node:dns';
    const { lookup } = dns;
    dns.lookup = (host, ...rest) => lookup(host.endsWith('localhost') ? '127.0.0.1' : host, ...rest);`,
  );
  return {
    MODSTEAD_API_KEY: game.api_key,
    NODE_EXTRA_CA_CERTS: api.service.certificateFile!,
    NODE_OPTIONS: `--import=${pathToFileURL(resolver)}`,
  };
}

test('a run that is killed leaves the old set or the new one, and the next run completes it', async () => {
  const mods = [await aMod('a1'), await aMod('b1'), await aMod('c1')];
  const folder = aFolder();
  mkdirSync(join(folder, '..'), { recursive: true });
  const args = argsFor(folder, mods);
  const settings = settingsOfProgram();
  let round = 1;
  const isOneSet = () => {
    if (!existsSync(folder)) return true;
    assert.ok(lstatSync(folder).isSymbolicLink());
    const rounds = new Set(mods.map((mod) => Number(textOf(folder, mod).slice(1))));
    return rounds.size === 1 && [...rounds][0]! <= round;
  };
  for (const events of [2, 8, 16, Number.POSITIVE_INFINITY]) {
    const child = startProgram(args, settings);
    const ended = endOf(child);
    let seen = 0;
    const watcher = followFiles(join(folder, '..'), { recursive: true }, () => {
      if (++seen === events) child.kill('SIGKILL');
    });
    const { code, err } = await ended;
    watcher.close();
    assert.ok(isOneSet(), `after ${events} events`);
    if (events === Number.POSITIVE_INFINITY) assert.equal(code, 0, err);
    else {
      round += 1;
      for (const [index, mod] of mods.entries()) await update(mod, `${'abc'[index]}${round}`);
    }
  }
  assert.deepEqual(
    mods.map((mod) => textOf(folder, mod)),
    [`a${round}`, `b${round}`, `c${round}`],
  );
});

test('a watched folder follows changes and outlasts failures that pass, and each news is told once', async () => {
  const [one, two] = [await aMod('one'), await aMod('two')];
  const mod_ids = [one.id, two.id];
  const { id } = (await team.call(addCollectionOperation, { params, body: { name: 'Watched', mod_ids } })).body;
  const plain = byKey.options.fetch!;
  let isDown = false;
  const fetch: typeof plain = async (input, init) => {
    if (isDown) throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    return plain(input, init);
  };
  const folder = aFolder();
  const client = byKey.with({ fetch, retry: { times: 0 } });
  const syncing = await syncingTo(folder, { kind: 'collection', id }, { client });
  const told: string[] = [];
  const nothing = async () => {};
  const leave = { params: { ...params, collection_id: id }, body: { mod_ids: [two.id] } as never };
  const steps = [
    nothing,
    () => update(one, 'newer'),
    async () => (isDown = true),
    nothing,
    async () => (isDown = false),
    () => team.call(deleteCollectionMods, leave),
    () => team.call(deleteModOperation, { params: { ...params, mod_id: one.id } }),
    nothing,
  ];
  const interrupted = new Error('interrupted');
  const pause = async () => {
    const step = steps.shift();
    if (!step) throw interrupted;
    await step();
  };
  const tell = ({ text }: { text: string }) => void told.push(text);
  await assert.rejects(watch({ syncing, words: wordsIn('en'), pause, tell }), interrupted);
  const [first, second] = names(one, two);
  const counts = (added: number, updated: number, removed: number) =>
    `Added: ${added}. Updated: ${updated}. Removed: ${removed}. Missing: 0.`;
  assert.deepEqual(told, [
    `Added: ${first}\nAdded: ${second}\n${counts(2, 0, 0)}`,
    `Updated: ${first}\n${counts(0, 1, 0)}`,
    'The service cannot be reached (GET /games/{game_id}/collections/{collection_id}/mods: connect ECONNREFUSED).',
    counts(0, 0, 0),
    `Removed: ${second}\n${counts(0, 0, 1)}`,
    `Removed: ${first}\n${counts(0, 0, 1)}`,
  ]);
  const refused = byKey.with({ key: 'x'.repeat(32) });
  const ending = watch({ syncing: { ...syncing, client: refused }, words: wordsIn('en'), pause, tell });
  await assert.rejects(ending, { name: 'ApiError', status: 401 });
});

test('the program watches until it is interrupted, and prints a line of JSON for each change', async () => {
  const mod = await aMod('first');
  const folder = aFolder();
  const child = startProgram([...argsFor(folder, [mod]), '--watch', '--interval', '1', '--json'], settingsOfProgram());
  const ended = endOf(child);
  const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? '{}');
  assert.deepEqual((await next()).added, names(mod));
  await update(mod, 'second');
  assert.deepEqual((await next()).updated, names(mod));
  assert.equal(textOf(folder, mod), 'second');
  child.kill('SIGTERM');
  assert.equal((await next()).exit_code, 130);
  assert.equal((await ended).code, 130);
  assert.equal(textOf(folder, mod), 'second');
});
