import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addModDependencies } from '../src/catalogue/dependencies/operations.ts';
import { addModMetadata } from '../src/catalogue/metadata/operations.ts';
import { deleteModOperation, editModByPut } from '../src/catalogue/mods/operations.ts';
import { addModTags } from '../src/catalogue/tags/operations.ts';
import {
  addCollectionOperation,
  deleteCollectionOperation,
  followCollectionOperation,
  updateCollectionOperation,
} from '../src/community/collections/operations.ts';
import { operations } from '../src/composition/resources.ts';
import { isEventStream } from '../src/platform/http/operation.ts';
import { type Client, type Mod, startApi } from './api.ts';

// Every text of a hidden resource contains a mark. Callers who may not see it read every address and must not find the
// mark. Callers who may see it read first, so that a response cached for the wrong caller would show.
const api = await startApi();
const MARK = 'zyxmarked';
const TAG = 'Zyxmarkedtag';
const game = await api.aGame({ tagGroups: [{ name: 'Kind', type: 'checkboxes', tags: [TAG, 'Open'] }] });
const hiddenGame = await api.aGame({ accepted: false });
const ada = await api.aUser();
const author = await api.as(ada);

const shown = await api.aMod({ game, owner: ada, name: 'Shown to all' });
await api.aFile(shown);

async function aMarkedMod(state: { visible?: number; accepted?: boolean; game?: { id: number } } = {}): Promise<Mod> {
  const mod = await api.aMod({ game, owner: ada, name: `${MARK} mod`, summary: `${MARK} summary`, ...state });
  await api.aFile(mod, { filename: `${MARK}.zip`, version: MARK, changelog: MARK });
  const params = { game_id: mod.game_id, mod_id: mod.id };
  if (mod.game_id === game.id) await author.call(addModTags, { params, body: { tags: [TAG] } });
  await author.call(addModMetadata, { params, body: { metadata: [`${MARK}:${MARK}`] } });
  return mod;
}

await api.joins(ada, hiddenGame, 8);
const hidden = await aMarkedMod({ visible: 0 });
const deleted = await aMarkedMod();
const unaccepted = await api.aMod({ game, owner: ada, name: `${MARK} mod`, accepted: false });
const foreign = await aMarkedMod({ game: hiddenGame });
for (const mod of [hidden, deleted])
  await author.call(addModDependencies, {
    params: { game_id: game.id, mod_id: mod.id },
    body: { dependencies: [shown.id] },
  });
const collected: number[] = [];
for (const [name, ids] of [
  ['Shown to all', [shown.id, deleted.id]],
  [`${MARK} hidden`, [shown.id]],
  [`${MARK} deleted`, [shown.id]],
] as const) {
  const body = { name, summary: name, mod_ids: ids, tags: ['AUDIO'] };
  const { id } = (await author.call(addCollectionOperation, { params: { game_id: game.id }, body })).body;
  const params = { game_id: game.id, collection_id: id };
  collected.push(id);
  await author.call(followCollectionOperation, { params });
  if (name.endsWith('hidden')) await author.call(updateCollectionOperation, { params, body: { visible: 0 } });
  if (name.endsWith('deleted')) await author.call(deleteCollectionOperation, { params });
}
await author.call(deleteModOperation, { params: { game_id: game.id, mod_id: deleted.id } });
await author.call(editModByPut, {
  params: { game_id: game.id, mod_id: hidden.id },
  body: { summary: `${MARK} again` },
});
const secrets = [hidden, deleted, unaccepted, foreign];

const otherGame = await api.aGame();
const otherMod = await api.aMod({ game });
const CALLERS: Record<string, () => Promise<Client> | Client> = {
  'a key of the game': () => api.withKey(game),
  'a key of another game': () => api.withKey(otherGame),
  'a stranger': async () => api.as(await api.aUser()),
  'an author of another mod': () => api.as(otherMod.owner),
  'the leader of another game': () => api.as(otherGame.owner),
};

/** Without streams, which do not end: those of games are for their teams, and that of notifications sends what the list has. */
const reads = operations.filter(({ declaration: { method, access, path, returns } }) => {
  const isPersonal = access.kind === 'service' || path.startsWith('/oauth');
  return method === 'GET' && !isPersonal && !isEventStream(returns);
});

function addressesOf(path: string): string[] {
  const mods = path.includes('{mod_id}') ? [shown, ...secrets] : [shown];
  return mods.flatMap((mod) =>
    [mod.game_id, game.id].flatMap((game_id) =>
      collected.map((collection_id) => {
        const values: Record<string, number> = { game_id, mod_id: mod.id, user_id: ada.id, collection_id };
        return path.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? 1));
      }),
    ),
  );
}

/** Queries that only hidden resources match, in addition to the plain address. */
const QUESTIONS: readonly Record<string, string>[] = [
  {},
  { _q: MARK },
  { 'name-lk': `*${MARK}*` },
  { tags: TAG },
  { metadata_kvp: `${MARK}:${MARK}` },
  { 'id-in': secrets.map(({ id }) => id).join(',') },
  { 'status-in': '0,1,3', 'visible-in': '0,1' },
  { _sort: '-date_added', _limit: '100' },
];

async function crawl(client: Client, isAsked: (text: string, address: string) => void): Promise<void> {
  for (const { declaration } of reads)
    for (const address of new Set(addressesOf(declaration.path)))
      for (const query of declaration.list ? QUESTIONS : QUESTIONS.slice(0, 1)) {
        const { status, text } = await client.send('GET', address, { query });
        assert.ok(status < 500, `${address} ${JSON.stringify(query)}: ${status}`);
        isAsked(text, `${address} ${JSON.stringify(query)}`);
      }
}

/** The game's tag options are public; only their use by a hidden mod is not. */
const withoutOptions = (text: string) => text.replaceAll(TAG, '').replaceAll(TAG.toLowerCase(), '');

test('callers who may see hidden resources find them', async () => {
  let found = 0;
  await crawl(author, (text) => {
    if (withoutOptions(text).includes(MARK)) found += 1;
  });
  assert.ok(found > 20, `${found} answers`);
});

for (const [name, client] of Object.entries(CALLERS))
  test(`${name} finds neither hidden resources nor counts that include them`, async () => {
    await crawl(await client(), (text, address) => {
      assert.ok(!withoutOptions(text).includes(MARK), `${address}: ${text}`);
      const body = !text.startsWith('{') ? {} : (JSON.parse(text) as { result_total?: number; data?: unknown[] });
      if (body.data && body.result_total !== undefined && body.data.length < 100 && !address.includes('"_limit"'))
        assert.equal(body.result_total, body.data.length, address);
    });
    const options = await (await client()).send('GET', `/games/${game.id}/tags`, {});
    const [group] = (options.body as { data: { tag_count_map: Record<string, number> }[] }).data;
    assert.deepEqual(group?.tag_count_map[TAG] ?? 0, 0);
  });
