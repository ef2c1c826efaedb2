import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Api, assertRefused, type Client, startApi } from '../../../test/api.ts';
import { runHere, settingsOf } from '../../../test/commands.ts';
import { readerOf } from '../../../test/crawler.ts';
import { freePort } from '../../../test/free-port.ts';
import { aPaidMod, aSellingGame } from '../../../test/money.ts';
import { editModByPut, getMods } from '../../catalogue/mods/operations.ts';
import { addCollectionOperation, getModCollections } from '../../community/collections/operations.ts';
import { subscribeToMod } from '../../community/subscriptions/operations.ts';
import { addDemo } from '../../demo/demo.ts';
import { fillGame } from '../../demo/filling.ts';
import { issueKey } from '../../platform/access/credentials.ts';
import { createEgress } from '../../platform/egress/egress.ts';
import { Fetcher } from './fetcher.ts';

/** More than a page of a list. */
const MODS = Number(process.env['MODSTEAD_TEST_MOVED_MODS'] ?? 100);
const folder = mkdtempSync(join(tmpdir(), 'modstead-modio-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const port = String(await freePort());
const source = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PORT: port, MODSTEAD_PUBLIC_PORT: port, MODSTEAD_PAYMENTS: 'simulated' },
});
const demo = (await addDemo(source.app(), { mods: 12, pictured: 2 }))!;
const [game] = demo.games;
await fillGame(source.app(), { gameId: game!.id, mods: MODS, seed: 'modio' });

const placeOf = (api: Api) => ({
  ...settingsOf(api),
  MODSTEAD_EGRESS_ALLOW: '127.0.0.0/8,::1/128',
  MODSTEAD_EGRESS_CA: source.service.certificateFile!,
});
const argsOf = ({ id, api_key }: { id: number; api_key: string }, work: string, ...more: string[]) => [
  ...['import', 'modio', join(folder, work), '--url', `https://localhost:${port}/v1`],
  ...['--game', String(id), '--api-key', api_key, ...more],
];
const argsFor = (work: string, ...more: string[]) => argsOf(game!, work, ...more);

async function readersOf(target: Api) {
  const keyOf = (api: Api) => {
    const app = api.app();
    return app.db.write((transaction) => issueKey(app, transaction, { userId: demo.user.id }));
  };
  const here = readerOf(source.withKey({ api_key: await keyOf(source) }));
  const there = readerOf(target.withKey({ api_key: await keyOf(target) }));
  return { here, there };
}

interface ShownMod extends Record<string, unknown> {
  readonly submitted_by: { readonly username: string };
  readonly tags: readonly { readonly name: string }[];
  readonly modfile: {
    readonly id: number;
    readonly version: string;
    readonly filehash?: { readonly md5: string };
  } | null;
  readonly stats: { readonly downloads_total: number; readonly ratings_display_text: string };
}

/** What a page shows of each mod that an API can carry over. */
function shownIn(text: string) {
  const { data, result_total } = JSON.parse(text);
  const mods = data.map((mod: ShownMod) => ({
    ...Object.fromEntries(
      [
        'id',
        'name',
        'name_id',
        'summary',
        'description',
        'date_added',
        'date_updated',
        'date_live',
        'status',
        'visible',
        'maturity_option',
        'metadata_kvp',
        'dependencies',
      ].map((name) => [name, mod[name]]),
    ),
    author: mod.submitted_by.username,
    tags: mod.tags.map(({ name }) => name).sort(),
    file: mod.modfile && [mod.modfile.id, mod.modfile.filehash?.md5, mod.modfile.version],
    downloads: mod.stats.downloads_total,
    ratings: mod.stats.ratings_display_text,
  }));
  return { mods, result_total };
}

async function assertSameGame(target: Api): Promise<void> {
  target.app().db.changes.everythingChanged();
  const { here, there } = await readersOf(target);
  for (let offset = 0; offset < MODS; offset += 100) {
    const address = `/games/${game!.id}/mods?_sort=id&_limit=100&_offset=${offset}`;
    assert.deepEqual(shownIn((await there(address)).text), shownIn((await here(address)).text));
  }
  const tags = `/games/${game!.id}/tags`;
  assert.equal((await there(tags)).text, (await here(tags)).text);
  for (const list of ['guides', 'collections']) {
    const namesIn = (text: string) =>
      JSON.parse(text).data.map(({ id, name }: { id: number; name: string }) => [id, name]);
    const address = `/games/${game!.id}/${list}?_sort=id`;
    assert.deepEqual(namesIn((await there(address)).text), namesIn((await here(address)).text));
  }
  const commented = await source
    .app()
    .db.query.selectFrom('comments')
    .select('resource_id')
    .distinct()
    .where('resource', '=', 'mods')
    .where('game_id', '=', game!.id)
    .execute();
  assert.ok(commented.length > 0);
  for (const { resource_id } of commented) {
    const idsIn = (text: string) =>
      JSON.parse(text).data.map(({ id, content, thread_position }: Record<string, unknown>) => [
        id,
        content,
        thread_position,
      ]);
    const address = `/games/${game!.id}/mods/${resource_id}/comments?_sort=id`;
    assert.deepEqual(idsIn((await there(address)).text), idsIn((await here(address)).text));
  }
}

test('a game of another server comes with its ids, and a second run brings only what changed', async () => {
  const target = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
  const player = demo.players[0]!;
  const token = (await source.as(player)).token!;
  const [first] = await source
    .app()
    .db.query.selectFrom('mods')
    .select('id')
    .where('game_id', '=', game!.id)
    .where('submitted_by', '<>', player.id)
    .orderBy('id')
    .execute();
  const client = source.withToken(token);
  const path = { game_id: game!.id, mod_id: first!.id };
  await client.call(subscribeToMod, { params: path });
  const [tokens, claims] = [join(folder, 'tokens'), join(folder, 'claims')];
  writeFileSync(tokens, `${token}\n`);
  writeFileSync(
    claims,
    `{"user_id":${player.id},"email":"Claimed@example.com"}\n{"user_id":${player.id},"portal":"steam","portal_id":"765"}\n`,
  );
  const args = argsFor('work', '--people-tokens', tokens, '--claims', claims, '--json');
  const dry = await runHere([...args, '--dry-run'], placeOf(target));
  assert.equal(dry.code, 0, dry.err);
  const imported = await runHere(args, placeOf(target));
  assert.equal(imported.code, 0, imported.err);
  const report = JSON.parse(imported.out);
  assert.deepEqual(report.problems, []);
  assert.deepEqual(
    report.refusals.filter(({ reason }: { reason: string }) => !/--with-powers/.test(reason)),
    [],
  );
  await assertSameGame(target);
  const { query } = target.app().db;
  const account = await query.selectFrom('users').select('email').where('id', '=', player.id).executeTakeFirstOrThrow();
  assert.equal(account.email, 'claimed@example.com');
  const portal = await query
    .selectFrom('portal_accounts')
    .select(['portal', 'portal_id'])
    .where('user_id', '=', player.id)
    .execute();
  assert.deepEqual(portal, [{ portal: 'steam', portal_id: '765' }]);
  const subscribed = await query
    .selectFrom('subscriptions')
    .select('mod_id')
    .where('user_id', '=', player.id)
    .where('mod_id', '=', first!.id)
    .execute();
  assert.equal(subscribed.length, 1);

  source.clock.advance(1_000);
  const owner = await source
    .app()
    .db.query.selectFrom('mods')
    .select('submitted_by')
    .where('id', '=', first!.id)
    .executeTakeFirstOrThrow();
  const changing = await source.as({ id: owner.submitted_by });
  const changed = await changing.call(editModByPut, { params: path, body: { name: 'Changed meanwhile', tags: [] } });
  assert.equal(changed.status, 200, changed.text);
  const again = await runHere(args, placeOf(target));
  assert.equal(again.code, 0, again.err);
  assert.ok(JSON.parse(again.out).taken.mods < 10, again.out);
  await assertSameGame(target);
});

test('the token of a team member brings hidden, waiting and paid mods, which stay so', async () => {
  const target = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
  const selling = await aSellingGame(source);
  const params = { game_id: selling.id };
  const [shown, hidden] = [await source.aMod({ game: selling }), await source.aMod({ game: selling })];
  await source.aMod({ game: selling, accepted: false });
  const hiding = await source.as(hidden.owner);
  await hiding.call(editModByPut, { params: { ...params, mod_id: hidden.id }, body: { visible: 0 } });
  const paid = await aPaidMod(source, selling);
  await selling.studio.call(addCollectionOperation, {
    params,
    body: { name: 'Sounds', mod_ids: [shown.id], category: 'Themed', tags: ['AUDIO', 'UI'] },
  });
  const args = argsOf(selling, 'member', '--token', selling.studio.token!, '--with-powers', '--json');
  const imported = await runHere(args, placeOf(target));
  assert.equal(imported.code, 0, imported.err);
  const { problems, refusals } = JSON.parse(imported.out);
  assert.match(problems.join(), new RegExp(`^mod ${paid.mod.id} .* costs 40 there`));
  assert.deepEqual(refusals, []);
  target.app().db.changes.everythingChanged();
  const studio = await target.as(selling.owner);
  const statesOf = async (client: Client) => {
    const query = { 'status-in': '0,1', 'visible-in': '0,1', _sort: 'id' };
    const { data } = (await client.call(getMods, { params, query })).body;
    return data.map(({ id, status, visible, price }) => [id, status, visible, price]);
  };
  const states = await statesOf(studio);
  assert.deepEqual(states, await statesOf(selling.studio));
  assert.equal(states.length, 4);
  const stranger = await target.as(await target.aUser());
  const file = `/games/${selling.id}/mods/${paid.mod.id}/files/${paid.params.file_id}/download`;
  assertRefused(await stranger.send('GET', file), 422, 900037);
  const collectionsOf = async (client: Client) =>
    (await client.call(getModCollections, { params })).body.data.map(({ category, tags }) => [category, tags]);
  assert.deepEqual(await collectionsOf(studio), [['Themed', ['AUDIO', 'UI']]]);
  assert.deepEqual(await collectionsOf(selling.studio), await collectionsOf(studio));
});

test('requests pause when the source asks for it, and go to allowed hosts alone', async (t) => {
  let busy = 2;
  const server = createServer((request, response) => {
    if (request.url === '/away') return response.writeHead(302, { location: 'http://127.0.0.1:9/secret' }).end();
    if (busy-- > 0) return response.writeHead(429, { 'retry-after': '7' }).end();
    return response.end('{"ok":true}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => server.close());
  const waited: number[] = [];
  const fetcher = new Fetcher(createEgress({ allowPrivate: ['127.0.0.0/8'] }), {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    wait: async (milliseconds) => void waited.push(Math.ceil(milliseconds / 1_000)),
  });
  assert.deepEqual(await fetcher.json('x'), { ok: true });
  assert.deepEqual([...new Set(waited)], [7]);
  await assert.rejects(fetcher.json('away'), /127\.0\.0\.1:9 is not allowed/);
  await assert.rejects(fetcher.json('http://example.com/'), /example\.com is not allowed/);
  await assert.rejects(
    new Fetcher(createEgress(), { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }).json('x'),
    /only https/,
  );
});
