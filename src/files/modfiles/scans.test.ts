import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { type Client, type Mod, startApi } from '../../../test/api.ts';
import { type ClamdBehaviour, startClamdStub } from '../../../test/clamd.ts';
import { mailsTo } from '../../../test/mails.ts';
import { aModfile } from '../../../test/modfiles.ts';
import { EICAR, nested, zipOf } from '../../../test/zips.ts';
import { addModDependencies } from '../../catalogue/dependencies/operations.ts';
import { getModEvents } from '../../catalogue/events/operations.ts';
import { getGameFindings } from '../../catalogue/findings/operations.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { editModByPut, getMod } from '../../catalogue/mods/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { getGameReports } from '../../moderation/reports/operations.ts';
import { downloadModfile } from '../downloads/operations.ts';
import { storageKeyOf } from './bytes.ts';
import { addModfileOperation, editModfileOperation, getModfile, managePlatformStatus } from './operations.ts';
import { SCAN_MANY, scanEverything, scanMany, scanProgress } from './scans.ts';

/** How the scanner behaves. Tests change it, and `afterEach` resets it. */
const manner: ClamdBehaviour = {};
const clamd = await startClamdStub({ after }, manner);
afterEach(() => {
  delete manner.answer;
  delete manner.hangsUp;
  delete manner.streamBytesMax;
});

const settings = { MODSTEAD_JOBS: 'off', MODSTEAD_CLAMD: clamd.address, MODSTEAD_SCAN_MB: '1' };
const api = await startApi({ settings });
const worker = composeWorker(api.app());
await worker.runDue();

const DOWNLOADS_ALLOWED = 1 | 2;
const game = await api.aGame({ settings: { api_access_options: DOWNLOADS_ALLOWED } });
const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const clean = (text = api.unique('clean')) => zipOf({ 'readme.txt': text });
const infected = () => zipOf({ 'readme.txt': api.unique('infected'), 'data/evil.bin': EICAR });

async function upload(mod: Mod, bytes: Buffer, body: Record<string, string | boolean | string[]> = {}) {
  const files = { filedata: { filename: 'mod.zip', bytes } };
  const answer = await (await api.as(mod.owner)).call(addModfileOperation, { params: at(mod), body, files });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

async function stateOf(mod: Mod, { id }: { id: number }): Promise<number[]> {
  const params = { ...at(mod), file_id: id };
  const { body } = await (await api.as(mod.owner)).call(getModfile, { params });
  return [body.virus_status, body.virus_positive, body.date_scanned];
}

async function shownOf(mod: Mod) {
  const { body } = await (await api.as(mod.owner)).call(getMod, { params: at(mod) });
  return { status: body.status, live: (body.modfile as { id?: number }).id, platforms: body.platforms };
}

const download = (client: Client, mod: Mod, { id }: { id: number }) =>
  client.call(downloadModfile, { params: { ...at(mod), file_id: id } });
const isOffered = async (mod: Mod, file: { id: number }) => {
  const { status } = await download(api.withKey(game), mod, file);
  assert.ok(status === 200 || status === 404, String(status));
  return status === 200;
};

const eventsOf = async (mod: Mod) =>
  (await (await api.as(mod.owner)).call(getModEvents, { params: at(mod) })).body.data.map((event) => event.event_type);

const findingsOf = async ({ id }: { id: number }) =>
  (await (await api.as(game.owner)).call(getGameFindings, { params: { game_id: game.id }, query: { modfile_id: id } }))
    .body.data;

async function reportsOn(mod: Mod) {
  const { body } = await (await api.as(game.owner)).call(getGameReports, { params: { game_id: mod.game_id } });
  return body.data.filter(({ resource, resource_id }) => resource === 'mods' && resource_id === mod.id);
}

/** Only mails about threats: others report that a file went live. */
const threatsTo = (address: string) =>
  mailsTo(api, address).filter(({ subject, text }) => /threat|Bedrohung/.test(subject + text));

test('a file is neither downloadable nor live before its scan, and accepts the mod afterwards', async () => {
  const mod = await api.aMod({ game, accepted: false });
  const file = await upload(mod, clean());
  assert.deepEqual(await stateOf(mod, file), [0, 0, 0]);
  assert.deepEqual(await shownOf(mod), { status: 0, live: undefined, platforms: [] });
  const owner = await api.as(mod.owner);
  await owner.refused(downloadModfile, { params: { ...at(mod), file_id: file.id } }, 404, 15010);
  api.clock.advance(10);
  await worker.runDue();
  assert.deepEqual(await stateOf(mod, file), [1, 0, api.clock.now()]);
  assert.deepEqual(await shownOf(mod), { status: 1, live: file.id, platforms: [] });
  assert.equal(await isOffered(mod, file), true);
  assert.deepEqual(await findingsOf(file), []);
});

test('a file with a threat is available to nobody and never goes live', async () => {
  const mod = await api.aMod({ game, accepted: false });
  const file = await upload(mod, nested('evil.bin', EICAR, 2));
  await worker.runDue();
  assert.deepEqual(await stateOf(mod, file), [1, 1, api.clock.now()]);
  assert.deepEqual(await shownOf(mod), { status: 0, live: undefined, platforms: [] });
  for (const client of [await api.as(mod.owner), await api.as(game.owner)])
    await client.refused(downloadModfile, { params: { ...at(mod), file_id: file.id } }, 404, 15010);
  const params = { ...at(mod), file_id: file.id };
  await (await api.as(mod.owner)).refused(editModfileOperation, { params, body: { active: true } }, 403, 15007);
});

test('a threat that is found later takes down the live file and the mod, and everyone affected gets a mail', async () => {
  const owner = await api.aUser({ email: 'owner@example.org', language: 'de' });
  const mod = await api.aMod({ game, owner });
  const needer = await api.aUser({ email: 'needer@example.org' });
  const needing = await api.aMod({ game, owner: needer });
  await (await api.as(needer)).call(addModDependencies, { params: at(needing), body: { dependencies: [mod.id] } });
  manner.answer = 'stream: OK\0';
  const file = await upload(mod, infected());
  await worker.runDue();
  assert.deepEqual([(await shownOf(mod)).live, await isOffered(mod, file)], [file.id, true]);
  delete manner.answer;
  const scanned = api.clock.now();
  api.clock.advance(60);
  await scanEverything(api.app());
  assert.deepEqual(
    await stateOf(mod, file),
    [1, 0, scanned],
    'a file that has passed stays live while it is scanned again',
  );
  await worker.runDue();
  assert.deepEqual(await stateOf(mod, file), [1, 1, api.clock.now()]);
  assert.deepEqual(await shownOf(mod), { status: 0, live: undefined, platforms: [] });
  assert.equal((await download(await api.as(owner), mod, file)).status, 404);
  assert.deepEqual((await eventsOf(mod)).slice(0, 2), ['MOD_UNAVAILABLE', 'MODFILE_CHANGED']);
  const [finding] = await findingsOf(file);
  assert.deepEqual([finding?.kind, finding?.path, finding?.detail], [1, 'data/evil.bin', 'Eicar-Signature']);
  assert.equal(threatsTo('owner@example.org').length, 1);
  assert.match(threatsTo('owner@example.org')[0]!.subject, /Bedrohung/);
  assert.equal(threatsTo('needer@example.org').length, 1);
  const [report, ...others] = await reportsOn(mod);
  assert.match(report!.summary, new RegExp(`^A scan found Eicar-Signature in data/evil.bin, in file ${file.id} `));
  assert.deepEqual([report!.user_id, others], [0, []]);
  await scanEverything(api.app());
  await worker.runDue();
  assert.equal(threatsTo('owner@example.org').length, 1, 'no mail is sent twice');
  assert.equal((await reportsOn(mod)).length, 1, 'one report is enough');
});

test('after a false positive the team can download the file again and make it live', async () => {
  const mod = await api.aMod({ game });
  const file = await upload(mod, infected());
  await worker.runDue();
  manner.answer = 'stream: OK\0';
  await scanEverything(api.app());
  await worker.runDue();
  assert.deepEqual((await stateOf(mod, file)).slice(0, 2), [1, 0]);
  assert.deepEqual(
    [await isOffered(mod, file), (await shownOf(mod)).live, await findingsOf(file)],
    [false, undefined, []],
  );
  const params = { ...at(mod), file_id: file.id };
  const owner = await api.as(mod.owner);
  assert.equal((await download(owner, mod, file)).status, 200);
  await owner.call(editModfileOperation, { params, body: { active: true } });
  assert.deepEqual([await isOffered(mod, file), (await shownOf(mod)).live], [true, file.id]);
});

test('during an outage of the scanner a file waits, shows so, and is scanned afterwards', async () => {
  const mod = await api.aMod({ game });
  manner.hangsUp = true;
  const file = await upload(mod, clean());
  await worker.runDue();
  assert.deepEqual(await stateOf(mod, file), [5, 0, 0]);
  assert.deepEqual([await isOffered(mod, file), (await shownOf(mod)).live], [false, undefined]);
  assert.equal((await findingsOf(file))[0]?.kind, 3);
  // Long enough for the last attempt.
  for (let attempt = 0; attempt < 8; attempt += 1) {
    api.clock.advance(3_600);
    await worker.runDue();
  }
  delete manner.hangsUp;
  api.clock.advance(7_200);
  await worker.runDue();
  assert.deepEqual(await stateOf(mod, file), [1, 0, api.clock.now()]);
  assert.deepEqual([await isOffered(mod, file), (await shownOf(mod)).live], [true, file.id]);
});

test('a failed scan does not replace the result of a complete one', async () => {
  const mod = await api.aMod({ game });
  const file = await upload(mod, clean());
  await worker.runDue();
  const before = await stateOf(mod, file);
  manner.answer = 'stream: something odd ERROR\0';
  api.clock.advance(5);
  await scanEverything(api.app());
  await worker.runDue();
  assert.deepEqual(await stateOf(mod, file), before);
  assert.equal(await isOffered(mod, file), true);
});

test('a file that is too large for the scanner is not clean, and the team of the game gets a finding', async () => {
  const mod = await api.aMod({ game });
  const file = await upload(mod, zipOf({ 'large.bin': Buffer.alloc(1024 ** 2 + 1, api.unique('x')) }));
  await worker.runDue();
  assert.deepEqual((await stateOf(mod, file)).slice(0, 2), [3, 0]);
  assert.deepEqual([await isOffered(mod, file), (await shownOf(mod)).live], [false, undefined]);
  const [finding] = await findingsOf(file);
  assert.deepEqual([finding?.kind, finding?.path, finding?.detail], [3, 'large.bin', '']);
  assert.equal(finding?.message, 'It is larger than the scanner accepts.');
});

test('missing bytes are reported as not found, and programs as potentially harmful', async () => {
  const mod = await api.aMod({ game });
  const gone = await upload(mod, clean());
  await api.app().storage.remove(storageKeyOf(gone.filehash.sha256));
  const program = await upload(mod, zipOf({ 'setup.exe': api.unique('MZ') }));
  await worker.runDue();
  assert.deepEqual((await stateOf(mod, gone)).slice(0, 2), [4, 0]);
  assert.deepEqual((await stateOf(mod, program)).slice(0, 2), [1, 2]);
  assert.equal((await findingsOf(program))[0]?.kind, 2);
  assert.equal((await shownOf(mod)).live, program.id);
});

test('files that share their bytes share the result, and each mod loses its own file', async () => {
  const [one, two] = [await api.aMod({ game }), await api.aMod({ game })];
  const archive = infected();
  manner.answer = 'stream: OK\0';
  const first = await upload(one, archive);
  await worker.runDue();
  delete manner.answer;
  const second = await upload(two, archive);
  assert.equal(await isOffered(one, first), true);
  await worker.runDue();
  for (const [mod, file] of [
    [one, first],
    [two, second],
  ] as const) {
    assert.deepEqual((await stateOf(mod, file)).slice(0, 2), [1, 1]);
    assert.equal((await findingsOf(file)).length, 1);
  }
  assert.deepEqual([(await shownOf(one)).status, (await shownOf(two)).status], [0, 1], 'the second was never live');
});

test('of several files that await their scan the one released last is live, whichever passes first', async () => {
  const mod = await api.aMod({ game });
  const [older, newer] = [await upload(mod, clean()), await upload(mod, clean())];
  const recalled = await upload(mod, clean(), { active: false });
  await worker.runDue();
  assert.equal((await shownOf(mod)).live, newer.id);
  for (const file of [older, recalled]) assert.equal(await isOffered(mod, file), false, 'it never was live');
});

test('a file that is recalled while it awaits its scan does not go live', async () => {
  const mod = await api.aMod({ game });
  const file = await upload(mod, clean());
  const params = { ...at(mod), file_id: file.id };
  await (await api.as(mod.owner)).call(editModfileOperation, { params, body: { active: false } });
  await worker.runDue();
  assert.equal((await shownOf(mod)).live, undefined);
});

test('in a game with platforms a file goes live on those that approved it, unless one denied it meanwhile', async () => {
  const several = await api.aGame();
  const names = ['windows', 'linux'].map((name, index) => [`platforms[${index}][platform]`, name]);
  const body = Object.fromEntries(names);
  await (await api.as(several.owner)).call(editGameOperation, { params: { game_id: several.id }, body });
  const mod = await api.aMod({ game: several });
  await upload(mod, clean());
  const onLinux = await upload(mod, clean(), { platforms: ['linux'] });
  const denied = await upload(mod, clean(), { platforms: ['windows'] });
  const params = { ...at(mod), file_id: denied.id };
  const answer = await (await api.as(several.owner)).call(managePlatformStatus, {
    params,
    body: { denied: ['windows'] },
  });
  assert.equal(answer.status, 200, answer.text);
  await worker.runDue();
  const platforms = [{ platform: 'linux', modfile_live: onLinux.id }];
  assert.deepEqual(await shownOf(mod), { status: 1, live: onLinux.id, platforms });
});

test('files from before a scanner was configured are scanned without a request', async () => {
  const mod = await api.aMod({ game });
  const file = await upload(mod, clean());
  await api.app().db.write(({ query }) => query.deleteFrom('jobs').where('kind', '=', 'modfiles.scan').execute());
  api.clock.advance(3_601);
  await worker.runDue();
  assert.deepEqual((await stateOf(mod, file)).slice(0, 2), [1, 0]);
});

test('a scan of all files resumes where it stopped, and covers every file', async () => {
  const mod = await api.aMod({ game });
  const files: { id: number }[] = [];
  for (let count = 0; count < 3; count += 1) files.push(await upload(mod, clean()));
  await worker.runDue();
  api.clock.advance(100);
  const total = await scanEverything(api.app());
  assert.ok(total >= 3);
  await worker.runDue();
  for (const file of files) assert.deepEqual(await stateOf(mod, file), [1, 0, api.clock.now()]);
});

/** The state that a killed process leaves: running, without a worker, until the lease ends. */
const killed = (kind: string) =>
  api.app().db.write(({ query }) =>
    query
      .updateTable('jobs')
      .set({ state: 'running', lease: 'killed', attempt: 1, date_due: api.clock.now() + 60 })
      .where('kind', '=', kind)
      .execute(),
  );

test('a killed scan of all files resumes at its step, scans nothing twice, and reports what is left', async () => {
  await worker.runDue();
  const mod = await api.aMod({ game });
  const scanned = { date_scanned: 1, virus_status: 1 };
  for (let count = 0; count < 120; count += 1) await aModfile(api, mod, clean(api.unique('of the pass')), scanned);
  const ofThePass = () => clamd.streams.map(String).filter((text) => text.includes('of the pass'));
  const { files, left } = await scanProgress(api.app());
  assert.equal(left, 0);

  await scanEverything(api.app());
  await killed(SCAN_MANY);
  await worker.runDue();
  assert.deepEqual([await scanProgress(api.app()), ofThePass().length], [{ files, left: files }, 0]);

  // The first step is done, and the second was killed while the scans of the first were waiting.
  await api.app().db.write(({ query }) => query.deleteFrom('jobs').where('kind', '=', SCAN_MANY).execute());
  await scanMany(api.app(), { after: '', all: true });
  await killed(SCAN_MANY);
  await worker.runDue();
  assert.deepEqual(await scanProgress(api.app()), { files, left: files - 100 });
  const first = ofThePass().length;
  assert.ok(first < 120);

  api.clock.advance(61);
  await composeWorker(api.app()).runDue();
  assert.deepEqual(await scanProgress(api.app()), { files, left: 0 });
  assert.deepEqual([ofThePass().length, new Set(ofThePass()).size], [120, 120]);
});

test('where unscanned downloads are allowed a file is live at once, and is taken down when a threat is found', async () => {
  const open = await startApi({ settings: { ...settings, MODSTEAD_DOWNLOAD_UNSCANNED: 'on' } });
  const mod = await open.aMod();
  const { id } = await open.aFile(mod, { archive: infected() });
  const live = async () =>
    ((await (await open.as(mod.owner)).call(getMod, { params: at(mod) })).body.modfile as { id?: number }).id;
  assert.equal(await live(), id);
  await composeWorker(open.app()).runDue();
  assert.equal(await live(), undefined);
});

test('a mod that was taken down returns when the team of its game accepts it with another file', async () => {
  const mod = await api.aMod({ game });
  manner.answer = 'stream: OK\0';
  await upload(mod, infected());
  await worker.runDue();
  delete manner.answer;
  await scanEverything(api.app());
  await worker.runDue();
  const better = await upload(mod, clean());
  await worker.runDue();
  assert.deepEqual(await shownOf(mod), { status: 0, live: better.id, platforms: [] });
  const accepted = await (await api.as(game.owner)).call(editModByPut, { params: at(mod), body: { status: 1 } });
  assert.equal(accepted.body.status, 1);
});
