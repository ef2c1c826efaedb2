import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, type TestContext, test } from 'node:test';
import sharp from 'sharp';
import { type Api, type Mod, startApi, type User } from '../../../test/api.ts';
import { runHere, settingsOf } from '../../../test/commands.ts';
import { freePort } from '../../../test/free-port.ts';
import { addModMedia } from '../../catalogue/media/operations.ts';
import { deleteModOperation, editModByPut, getMod, getMods } from '../../catalogue/mods/operations.ts';
import { getModsStats } from '../../catalogue/stats/operations.ts';
import { addGameTagOptions, deleteGameTagOptions, deleteModTags } from '../../catalogue/tags/operations.ts';
import { deleteModTeamMember, getModTeamMembers } from '../../catalogue/teams/operations.ts';
import { modComments } from '../../community/comments/operations.ts';
import { deleteGuideOperation, getGuides } from '../../community/guides/operations.ts';
import { addModRating } from '../../community/ratings/operations.ts';
import { subscribeToMod } from '../../community/subscriptions/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { deleteModfileOperation, getModfiles } from '../../files/modfiles/operations.ts';
import { issueKey } from '../../platform/access/credentials.ts';

const folder = mkdtempSync(join(tmpdir(), 'modstead-changes-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const port = String(await freePort());
const source = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PORT: port, MODSTEAD_PUBLIC_PORT: port },
});
const png = (background: string) =>
  sharp({ create: { width: 512, height: 288, channels: 3, background } })
    .png()
    .toBuffer();
const [RED, BLUE] = [await png('#ff0000'), await png('#0000ff')];

interface Scene {
  readonly game: { readonly id: number; readonly api_key: string; readonly owner: User };
  readonly author: User;
  readonly mods: readonly Mod[];
  /** Where the import finds the source, if not at its own address. */
  readonly url?: string;
}

/** A game with mods that have tags, two files, two comments and a second team member; every second has a logo. */
async function aScene(): Promise<Scene> {
  const game = await source.aGame();
  const inGame = { game_id: game.id };
  const studio = await source.as(game.owner);
  await studio.call(addGameTagOptions, {
    params: inGame,
    body: { name: 'Kind', type: 'checkboxes', tags: ['Sword', 'Axe'] },
  });
  const author = await source.aUser();
  const client = await source.as(author);
  const mods: Mod[] = [];
  for (let count = 0; count < 5; count += 1) {
    const mod = await source.aMod({ game, owner: author });
    const params = { ...inGame, mod_id: mod.id };
    for (let files = 0; files < 2; files += 1) await source.aFile(mod);
    await source.joinsMod(await source.aUser(), mod, 4);
    await client.call(editModByPut, { params, body: { tags: ['Sword', 'Axe'] } });
    const logo = { filename: 'logo.png', bytes: RED };
    if (count % 2 === 1) await client.call(addModMedia, { params, files: { logo } });
    for (const content of ['first', 'second']) await client.call(modComments.add, { params, body: { content } });
    mods.push(mod);
  }
  await source.aGuide({ game });
  await source.aGuide({ game });
  return { game, author, mods };
}

const placeOf = (api: Api) => ({
  ...settingsOf(api),
  MODSTEAD_EGRESS_ALLOW: '127.0.0.0/8,::1/128',
  MODSTEAD_EGRESS_CA: source.service.certificateFile!,
});

/** An empty service at the time of the source. */
async function aTarget(): Promise<Api> {
  const target = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
  target.clock.advance(source.app().clock.now() - target.app().clock.now());
  return target;
}

interface Reported {
  readonly taken: Record<string, number>;
  readonly removed: Record<string, number>;
  readonly removals: readonly { resource: string; old_id: number; change: string; name: string }[];
  readonly refusals: readonly { part: string; reason: string }[];
  readonly problems: readonly string[];
}

async function imported(target: Api, { game, url }: Scene, ...more: string[]): Promise<Reported> {
  const address = url ?? `https://localhost:${port}/v1`;
  const args = ['import', 'modio', join(folder, `work-${game.id}`), '--url', address, '--json'];
  const { code, out, err } = await runHere(
    [...args, '--game', String(game.id), '--api-key', game.api_key, ...more],
    placeOf(target),
  );
  assert.equal(code, 0, err);
  target.app().db.changes.everythingChanged();
  const report = JSON.parse(out) as Reported;
  assert.deepEqual(report.problems, []);
  return { ...report, refusals: report.refusals.filter(({ reason }) => !/--with-powers/.test(reason)) };
}

/** What anyone with the game's key sees of its mods and guides. */
async function shown(api: Api, { game }: Scene) {
  const app = api.app();
  const key = await app.db.write((transaction) => issueKey(app, transaction, { gameId: game.id }));
  const client = api.withKey({ api_key: key });
  const params = { game_id: game.id };
  const mods = (await client.call(getMods, { params, query: { _sort: 'id' } })).body.data;
  const all = [];
  for (const mod of mods) {
    const within = { params: { ...params, mod_id: mod.id } };
    const comments = (await client.call(modComments.getAll, { ...within, query: { _sort: 'id' } })).body.data;
    const team = (await client.call(getModTeamMembers, { ...within, query: { _sort: 'id' } })).body.data;
    const files = (await client.call(getModfiles, { ...within, query: { _sort: 'id' } })).body.data;
    all.push({
      id: mod.id,
      name: mod.name,
      tags: mod.tags.map(({ name }) => name).sort(),
      logo: mod.logo.filename,
      logoBytes: digestIn(mod.logo.original),
      live: mod.modfile?.id,
      files: files.map(({ id }) => id),
      comments: comments.map(({ content }) => content),
      team: team.map(({ user, level }) => [user.username, level]),
    });
  }
  const guides = (await client.call(getGuides, { params, query: { _sort: 'id' } })).body.data;
  return { mods: all, guides: guides.map(({ id, name }) => [id, name]) };
}

/** Pictures are stored under the digest of their bytes. */
const digestIn = (address: string | null) => /images\/([0-9a-f]+)/.exec(address ?? '')?.[1];

const within = ({ game }: Scene, mod: Mod) => ({ game_id: game.id, mod_id: mod.id });

/** One change of each sort, each to another mod. */
async function changeEverything(scene: Scene): Promise<void> {
  source.clock.advance(1_000);
  const { game, author, mods } = scene;
  const client = await source.as(author);
  const [deleted, hidden, stripped, pictured, commented] = mods as [Mod, Mod, Mod, Mod, Mod];
  assert.equal((await client.call(deleteModOperation, { params: within(scene, deleted) })).status, 204);
  await client.call(editModByPut, { params: within(scene, hidden), body: { visible: 0 } });
  const files = await client.call(getModfiles, { params: within(scene, stripped), query: { _sort: 'id' } });
  const file = { ...within(scene, stripped), file_id: files.body.data[0]!.id };
  assert.equal((await client.call(deleteModfileOperation, { params: file })).status, 204);
  await client.call(deleteModTags, { params: within(scene, stripped), body: { tags: ['Sword'] } });
  const logo = { logo: { filename: 'logo.png', bytes: BLUE } };
  await client.call(addModMedia, { params: within(scene, pictured), files: logo });
  const comments = await client.call(modComments.getAll, { params: within(scene, commented), query: { _sort: 'id' } });
  const comment = { ...within(scene, commented), comment_id: comments.body.data[0]!.id };
  assert.equal((await client.call(modComments.remove, { params: comment })).status, 204);
  const team = await client.call(getModTeamMembers, { params: within(scene, commented), query: { _sort: '-id' } });
  const member = { ...within(scene, commented), team_member_id: team.body.data[0]!.id };
  assert.equal((await client.call(deleteModTeamMember, { params: member })).status, 204);
  const studio = await source.as(game.owner);
  await studio.call(deleteGameTagOptions, { params: { game_id: game.id }, body: { name: 'Kind', tags: ['Axe'] } });
  const guides = await studio.call(getGuides, { params: { game_id: game.id }, query: { _sort: 'id' } });
  const guide = { game_id: game.id, guide_id: guides.body.data[0]!.id };
  assert.equal((await studio.call(deleteGuideOperation, { params: guide })).status, 204);
}

test('a later run carries over what was deleted, hidden and changed at the source; a dry run counts it, and the report names it', async () => {
  const target = await aTarget();
  const scene = await aScene();
  const first = await imported(target, scene);
  assert.deepEqual([first.removed, first.refusals], [{}, []]);
  assert.deepEqual(await shown(target, scene), await shown(source, scene));
  await changeEverything(scene);
  const dry = await imported(target, scene, '--dry-run');
  const second = await imported(target, scene);
  const expected = { comments: 1, game_tags: 1, guides: 1, modfiles: 1, mods: 2, team_members: 1 };
  assert.deepEqual(second.removed, expected);
  assert.deepEqual(Object.fromEntries(Object.entries(dry.removed).sort()), expected);
  const [deleted, hidden] = scene.mods;
  assert.deepEqual(
    second.removals.filter(({ resource }) => resource === 'mods'),
    [
      { resource: 'mods', old_id: deleted!.id, change: 'deleted', name: deleted!.name },
      { resource: 'mods', old_id: hidden!.id, change: 'hidden', name: hidden!.name },
    ],
  );
  await finishJobs(target);
  await finishJobs(source);
  assert.deepEqual(await shown(target, scene), await shown(source, scene));
  const third = await imported(target, scene);
  assert.deepEqual([third.removed, third.refusals], [{}, []]);
});

/** Jobs rewrite mods after their tags went. */
async function finishJobs(api: Api): Promise<void> {
  await composeWorker(api.app()).runDue();
  api.app().db.changes.everythingChanged();
}

test('what was changed or added here since the import stays, the report names it, and --overwrite takes the source’s', async () => {
  const target = await aTarget();
  const scene = await aScene();
  await imported(target, scene);
  const [edited, gone, other] = scene.mods as [Mod, Mod, Mod];
  const here = await target.as(scene.author);
  target.clock.advance(2_000);
  for (const mod of [edited, gone])
    assert.equal(
      (await here.call(editModByPut, { params: within(scene, mod), body: { name: 'Edited here', tags: ['Axe'] } }))
        .status,
      200,
    );
  const added = await target.aMod({ game: scene.game, name: 'Added here', owner: scene.author });
  source.clock.advance(1_000);
  const there = await source.as(scene.author);
  for (const mod of [edited, other])
    await there.call(editModByPut, { params: within(scene, mod), body: { name: 'Edited there' } });
  await there.call(deleteModOperation, { params: within(scene, gone) });
  const nameOf = async (mod: Mod) => {
    const { body } = await here.call(getMod, { params: within(scene, mod) });
    return [body.name, body.tags?.map(({ name }) => name).sort()];
  };
  const dry = await imported(target, scene, '--dry-run');
  const kept = await imported(target, scene);
  for (const report of [dry, kept])
    assert.deepEqual(
      report.refusals.map(({ reason }) => /mods (\d+) .*was changed here/.exec(reason.replace(' was', '  was'))?.[1]),
      [String(edited.id), String(gone.id)],
    );
  assert.deepEqual(await nameOf(edited), ['Edited here', ['Axe']]);
  assert.deepEqual(await nameOf(gone), ['Edited here', ['Axe']]);
  assert.deepEqual(await nameOf(other), ['Edited there', ['Axe', 'Sword']]);
  assert.deepEqual((await nameOf(added))[0], 'Added here');
  assert.deepEqual(kept.removed, {});
  assert.equal((await imported(target, scene)).refusals.length, 2, 'every run names it until it is decided');
  const taken = await imported(target, scene, '--overwrite');
  assert.deepEqual([taken.refusals, taken.removed], [[], { mods: 1 }]);
  assert.deepEqual(await nameOf(edited), ['Edited there', ['Axe', 'Sword']]);
  assert.deepEqual((await nameOf(added))[0], 'Added here');
});

test('in a new folder everything is listed again and compared with what earlier runs brought', async () => {
  const target = await aTarget();
  const scene = await aScene();
  await imported(target, scene);
  await changeEverything(scene);
  rmSync(join(folder, `work-${scene.game.id}`), { recursive: true });
  const second = await imported(target, scene);
  assert.deepEqual(second.removed, { comments: 1, game_tags: 1, guides: 1, modfiles: 1, mods: 2, team_members: 1 });
  await finishJobs(target);
  await finishJobs(source);
  assert.deepEqual(await shown(target, scene), await shown(source, scene));
});

/** A proxy before the source that refuses requests for which `statusOf` has a status. */
async function proxied(t: TestContext, statusOf: (path: string) => number | undefined): Promise<string> {
  const ca = readFileSync(source.service.certificateFile!);
  const server = createServer((asked, answer) => {
    const refused = statusOf(asked.url!.split('?')[0]!);
    if (refused !== undefined) return void answer.writeHead(refused).end('{}');
    const headers = { ...asked.headers, host: `localhost:${port}` };
    const sent = request({ host: 'localhost', port, ca, path: asked.url!, headers, agent: false }, async (received) => {
      const body = await buffer(received);
      const isJson = received.headers['content-type']?.includes('json');
      answer.writeHead(received.statusCode!, { 'content-type': received.headers['content-type'] ?? '' });
      answer.end(isJson ? own(body.toString('utf8')) : body);
    });
    sent.end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // Files and pictures are fetched through it too.
  const links = new RegExp(`https://[\\w.-]*localhost:${port}`, 'g');
  const own = (text: string) => text.replaceAll(links, address);
  return `${address}/v1`;
}

test('a source that refuses its list of events is compared as a whole', async (t) => {
  const target = await aTarget();
  let refusal: number | undefined;
  const url = await proxied(t, (path) => (path.endsWith('/mods/events') ? refusal : undefined));
  const scene = { ...(await aScene()), url };
  const assertSame = async () => {
    await finishJobs(target);
    await finishJobs(source);
    assert.deepEqual(await shown(target, scene), await shown(source, scene));
  };
  await imported(target, scene);
  await changeEverything(scene);
  refusal = 403;
  const second = await imported(target, scene);
  assert.deepEqual(second.removed, { comments: 1, game_tags: 1, guides: 1, modfiles: 1, mods: 2, team_members: 1 });
  await assertSame();
  const third = await imported(target, scene);
  assert.deepEqual([third.removed, third.refusals], [{}, []]);
  const author = await source.as(scene.author);
  for (const [status, mod] of [
    [404, scene.mods[3]!],
    [422, scene.mods[4]!],
  ] as const) {
    source.clock.advance(1_000);
    assert.equal((await author.call(deleteModOperation, { params: within(scene, mod) })).status, 204);
    refusal = status;
    assert.deepEqual((await imported(target, scene)).removed, { mods: 1 });
    await assertSame();
  }
  refusal = undefined;
  await imported(target, scene);
  await assertSame();
});

/** The counts of all mods of a game, as anyone with its key sees them. */
async function countsOf(api: Api, { game }: Scene) {
  const app = api.app();
  const key = await app.db.write((transaction) => issueKey(app, transaction, { gameId: game.id }));
  const client = api.withKey({ api_key: key });
  const params = { game_id: game.id };
  const { data } = (await client.call(getModsStats, { params, query: { _sort: 'mod_id' } })).body;
  const listed = (await client.call(getMods, { params, query: { _sort: 'id' } })).body.data.map(({ stats }) => stats);
  return [...data, ...listed].map(({ mod_id, subscribers_total, ratings_positive, ratings_display_text }) => ({
    ...{ mod_id, subscribers_total, ratings_positive, ratings_display_text },
  }));
}

test('stats of mods without any other change are refreshed, from the list of stats or that of mods', async (t) => {
  const target = await aTarget();
  let isRefused = false;
  const asked: string[] = [];
  const url = await proxied(t, (path) => {
    asked.push(path);
    return isRefused && path.endsWith('/mods/stats') ? 404 : undefined;
  });
  const scene = { ...(await aScene()), url };
  const [counted, last] = [scene.mods[0]!, scene.mods.at(-1)!];
  source.clock.advance(1_000);
  const author = await source.as(scene.author);
  await author.call(editModByPut, { params: within(scene, last), body: { name: 'The only recent change' } });
  await imported(target, scene);
  for (isRefused of [false, true]) {
    const player = await source.as(await source.aUser());
    await player.call(subscribeToMod, { params: within(scene, counted) });
    await player.call(addModRating, { params: within(scene, counted), body: { rating: 1 } });
    await source.counted();
    asked.length = 0;
    const { taken, refusals } = await imported(target, scene);
    assert.deepEqual([taken['mods'], taken['mod_stats'], refusals], [1, 1 + scene.mods.length, []]);
    assert.equal(asked.filter((path) => path.endsWith('/mods/stats')).length, 1);
    assert.equal(asked.filter((path) => path.endsWith(`/mods/${counted.id}/files`)).length, 0);
    const counts = await countsOf(target, scene);
    assert.deepEqual(counts, await countsOf(source, scene));
    assert.equal(counts[0]!.subscribers_total, isRefused ? 2 : 1);
  }
});
