import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import sharp from 'sharp';
import { startApi } from '../../../test/api.ts';
import { startClamdStub } from '../../../test/clamd.ts';
import { clientOf, fetchOf } from '../../../test/client/fetching.ts';
import { temporaryFolder } from '../../../test/temporary.ts';
import { EICAR, zipOf } from '../../../test/zips.ts';
import { composeWorker } from '../../composition/compose.ts';
import type { Refusal } from '../invocation/command.ts';
import { wordsIn } from '../invocation/messages.ts';
import { filesOf, pack } from './archive.ts';
import { publishFailure } from './exit-codes.ts';
import { type Manifest, manifestSchema, readManifest } from './manifest.ts';
import { type Publishing, publish } from './publish.ts';
import { uploadStorage } from './stored-state.ts';

const clamd = await startClamdStub({ after });
const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_CLAMD: clamd.address } });
const worker = composeWorker(api.app());
const game = await api.aGame({ settings: { dependency_option: 3 } });
const ada = await api.aUser();
const team = clientOf(api, { token: (await api.as(game.owner)).token });
await team.call('POST /games/{game_id}/tags', {
  game_id: game.id,
  name: 'Kind',
  type: 'checkboxes',
  tags: ['Map', 'Weapon'],
});
const logo = join(temporaryFolder('logo'), 'logo.png');
await sharp({ create: { width: 640, height: 360, channels: 3, background: '#345' } }).toFile(logo);
const words = wordsIn('en');
const state = uploadStorage(temporaryFolder('publish-state'));

function folderWith(files: Record<string, string | Buffer>): string {
  const folder = temporaryFolder('publish');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

let mods = 0;
const aName = () => `castle-${++mods}`;
const described = { name: 'Castle', summary: 'A castle.', logo };

/** The methods and paths that were sent. */
const sent: string[] = [];
const send = fetchOf(api);
const watching: typeof fetch = (input, init) => {
  sent.push(`${init?.method} ${new URL(String(input)).pathname.replace(/^\/v1\/games\/\d+\//, '')}`);
  return send(input, init);
};
const author = clientOf(api, { token: (await api.as(ada)).token, fetch: watching });

/** Every pause lets the workers of the service run. */
async function published(source: string, mod: string, manifest: Manifest, more: Partial<Publishing> = {}) {
  const said: string[] = [];
  sent.length = 0;
  const outcome = await publish({
    client: author,
    gameId: game.id,
    mod,
    manifest,
    newLogo: undefined,
    source,
    storage: state,
    isDryRun: false,
    isAwaited: true,
    timeoutSeconds: 10,
    signal: new AbortController().signal,
    pause: async () => void (await worker.runDue()),
    say: (message) => void said.push(words(message)),
    ...more,
  });
  const reason = outcome.reason && words(outcome.reason);
  return { ...outcome, reason, said, writes: sent.filter((each) => !each.startsWith('GET')) };
}

test('a folder becomes a mod with all its details once it is scanned, and the same folder again writes nothing', async () => {
  const [needed, other] = [await api.aMod({ game }), await api.aMod({ game })];
  const folder = folderWith({ 'maps/castle.map': 'a castle', 'readme.txt': 'Read me' });
  const name = aName();
  const manifest: Manifest = {
    ...described,
    description: 'Towers and walls.',
    tags: ['Map'],
    metadata: { size: 'large', seasons: ['winter', 'summer'] },
    dependencies: [needed.name_id, other.id],
    version: '1.0.0',
    changelog: 'The first version.',
    file_metadata_blob: 'levels=3',
  };
  const first = await published(folder, name, manifest);
  assert.deepEqual([first.exit_code, first.state, first.is_new, first.is_uploaded], [0, 'published', true, true]);
  assert.ok(first.said.includes('The file is waiting to be scanned.'), first.said.join('\n'));
  const path = { game_id: game.id, mod_id: first.mod_id! };
  const mod = await author.call('GET /games/{game_id}/mods/{mod_id}', path);
  assert.deepEqual([mod.name_id, mod.status, mod.profile_url], [name, 1, first.url]);
  assert.deepEqual(
    mod.tags.map((tag) => tag.name),
    ['Map'],
  );
  assert.equal(mod.metadata_kvp.length, 3);
  const { version, changelog, metadata_blob, filehash, id } = mod.modfile as Required<typeof mod.modfile>;
  assert.deepEqual(
    [version, changelog, metadata_blob, filehash, id],
    ['1.0.0', 'The first version.', 'levels=3', { md5: first.md5, sha256: first.sha256 }, first.file_id],
  );
  const needs = await author.call('GET /games/{game_id}/mods/{mod_id}/dependencies', path);
  assert.deepEqual(needs.data.map(({ mod_id }) => mod_id).sort(), [needed.id, other.id].sort());
  const again = await published(folder, name, manifest);
  assert.deepEqual([again.state, again.changed, again.is_uploaded, again.writes], ['published', [], false, []]);
});

test('an edit writes only what has changed, and the file only if its bytes have', async () => {
  const name = aName();
  const folder = folderWith({ 'a.txt': 'one' });
  const { mod_id, file_id } = await published(folder, name, { ...described, tags: ['Map'], version: '1.0.0' });
  const edited = await published(folder, name, { ...described, tags: ['Weapon', 'Map'], version: '1.0.1' });
  assert.deepEqual([edited.changed, edited.file_id], [['tags', 'file.version'], file_id]);
  assert.deepEqual(edited.writes, [`POST mods/${mod_id}`, `PUT mods/${mod_id}/files/${file_id}`]);
  writeFileSync(join(folder, 'a.txt'), 'two');
  const next = await published(folder, name, { tags: ['Map'], dependencies: [], version: '1.1.0' });
  assert.deepEqual([next.changed, next.is_uploaded, next.state], [['tags', 'file'], true, 'published']);
  assert.notEqual(next.file_id, file_id);
});

test('a dry run says what it would write, and writes nothing', async () => {
  const name = aName();
  const folder = folderWith({ 'a.txt': 'one' });
  const plan = await published(folder, name, { ...described, version: '1.0.0' }, { isDryRun: true });
  assert.deepEqual(
    [plan.exit_code, plan.state, plan.is_new, plan.changed, plan.writes],
    [0, 'planned', true, ['name', 'summary', 'name_id', 'logo', 'file'], []],
  );
  const { data } = await author.call('GET /me/mods', { name_id: name });
  assert.deepEqual(data, []);
  await assert.rejects(
    published(folder, name, { name: 'Castle' }, { isDryRun: true }),
    /"fields":{"all":\["summary","logo"\]}/,
  );
});

test('a threat has its own exit code, and the infected file is not uploaded again', async () => {
  const name = aName();
  const folder = folderWith({ 'a.txt': EICAR });
  const first = await published(folder, name, described);
  assert.deepEqual([first.exit_code, first.state, first.ok], [5, 'threat', false]);
  const again = await published(folder, name, described);
  assert.deepEqual([again.exit_code, again.is_uploaded], [5, false]);
});

test('an archive that is written to while it is sent is said to have changed', async () => {
  const archive = join(folderWith({ 'mod.zip': zipOf({ 'a.txt': 'one' }) }), 'mod.zip');
  const writing: typeof fetch = (input, init) => {
    if (init?.method === 'POST' && String(input).includes('/multipart')) appendFileSync(archive, 'more');
    return send(input, init);
  };
  const { signal } = new AbortController();
  const failed = await published(archive, aName(), described, { client: author.with({ fetch: writing }) }).then(
    () => undefined,
    (error) => publishFailure(error, signal, words),
  );
  assert.deepEqual(failed, { exitCode: 2, message: words({ name: 'file_changed' }) });
});

test('the command waits for the moderators, and repeats their reason', async () => {
  await team.call('PUT /games/{game_id}', { game_id: game.id, curation_option: 2 });
  const name = aName();
  const folder = folderWith({ 'a.txt': 'moderated' });
  const waiting = await published(folder, name, described);
  assert.deepEqual([waiting.exit_code, waiting.state], [6, 'moderation']);
  assert.match(waiting.reason!, /at place 1 of their queue/);
  const unawaited = await published(folder, name, described, { isAwaited: false });
  assert.deepEqual([unawaited.exit_code, unawaited.state, unawaited.is_uploaded], [0, 'moderation', false]);
  const decide = (decision: 'approve' | 'deny', reason: string) =>
    team.call('POST /games/{game_id}/moderation/decisions', {
      game_id: game.id,
      resource: 'mods',
      id: waiting.mod_id!,
      decision,
      reason,
    });
  const denied = await published(folder, name, described, { pause: () => decide('deny', 'It has no door.') });
  assert.deepEqual(
    [denied.exit_code, denied.state, denied.reason],
    [4, 'denied', 'The moderators did not accept the mod: It has no door.'],
  );
  await decide('approve', '');
  const approved = await published(folder, name, described);
  assert.deepEqual([approved.exit_code, approved.state], [0, 'published']);
  await team.call('PUT /games/{game_id}', { game_id: game.id, curation_option: 0 });
});

test('the same files make the same archive, whatever their order, times and modes, without ignored ones', async () => {
  const files = { 'b.txt': 'b'.repeat(1_000), 'ä/ö.bin': Buffer.from([1, 2, 3]), 'a/c.txt': '' };
  const ignored = { '.modsteadignore': '# tools\n*.log\n/build/\n!keep.log\ndeep/**/x.txt\n', 'modstead.json': '{}' };
  const noise = { 'a.log': '', 'build/x': '', '.git/HEAD': '', 'deep/one/two/x.txt': '', 'deep/x.txt': '' };
  const kept = { 'keep.log': 'kept', 'a/build': 'a file' };
  const one = folderWith({ ...files, ...kept, ...ignored, ...noise });
  const other = folderWith(Object.fromEntries(Object.entries({ ...ignored, ...kept, ...files }).reverse()));
  utimesSync(join(other, 'b.txt'), 1, 1);
  const names = (await filesOf(one)).map(({ name }) => name);
  assert.deepEqual(names, ['a/build', 'a/c.txt', 'b.txt', 'keep.log', 'ä/ö.bin']);
  const [first, second] = [join(one, 'mod.zip'), join(other, 'mod.zip')];
  await pack(await filesOf(one), first);
  await pack(await filesOf(other), second);
  assert.ok(readFileSync(first).equals(readFileSync(second)));
  const { mod_id, file_id } = await published(first, aName(), described);
  const { data } = await author.call('GET /games/{game_id}/mods/{mod_id}/files/{file_id}/contents', {
    game_id: game.id,
    mod_id: mod_id!,
    file_id: file_id!,
  });
  assert.deepEqual(
    data.map(({ path, filesize }) => [path, filesize]),
    [
      ['a/build', 6],
      ['a/c.txt', 0],
      ['b.txt', 1_000],
      ['keep.log', 4],
      ['ä/ö.bin', 3],
    ],
  );
  symlinkSync('/etc/passwd', join(other, 'link'));
  await assert.rejects(filesOf(other), /folder_other.*"link"/);
});

test('a manifest names every field that does not fit', () => {
  const read = (manifest: object) => readManifest(folderWith({ 'modstead.json': JSON.stringify(manifest) }), undefined);
  assert.deepEqual(read({ $schema: 'x', game: 1, mod: 'castle' }), { game: 1, mod: 'castle' });
  assert.throws(
    () => read({ gam: 1, game: 'one', mod: 0, tags: ['a', ''], metadata: { a: 1 }, platforms: ['amiga'], url: 'ftp:' }),
    (error: Refusal) =>
      [
        'There is no field "gam".',
        '"game" must be a whole number.',
        '"mod" must be at least 1.',
        '"tags[1]" must not be empty.',
        '"metadata.a" must be a text or a list.',
        '"platforms[0]" must be source, windows,',
        '"url" must be an address',
      ].every((problem) => words(...error.texts).includes(problem)),
  );
  assert.deepEqual(Object.keys(manifestSchema.properties).slice(0, 4), ['$schema', 'url', 'game', 'mod']);
});
