import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, type Client, startApi } from '../../../test/api.ts';
import { aBuyer, aPaidMod, aSellingGame } from '../../../test/money.ts';
import { editModByPut, getMod, getMods, getModsOfUser } from '../../catalogue/mods/operations.ts';
import { getUserSubscriptions } from '../../community/subscriptions/operations.ts';
import { downloadModfile } from '../../files/downloads/operations.ts';
import { lookupMods } from '../../files/mod-lookups/operations.ts';
import { getModfile, getModfiles } from '../../files/modfiles/operations.ts';
import { getUserPurchases, purchase, refundPurchase } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PAYMENTS: 'simulated' } });
const FREE_AND_PAID = { revenue_type: 2 };

interface Read {
  readonly name: string;
  readonly send: (reader: Client) => Promise<Answer<unknown>>;
  /** Whether it shows a mod that was hidden to its buyer: where the mod is named, and in what is theirs. */
  readonly showsHidden: boolean;
  /** Whether it lists what belongs to the reader. */
  readonly isOwn?: true;
}

const aScene = async () => {
  const game = await aSellingGame(api);
  const { mod, params, author } = await aPaidMod(api, game);
  const { buyer } = await aBuyer(api, game);
  const stranger = await api.as(await api.aUser());
  const answer = await buyer.call(purchase, { params, body: { idempotent_key: '1' } });
  assert.equal(answer.status, 200, answer.text);
  const list = (query: object) => (reader: Client) =>
    reader.call(getMods, { params, query: { ...FREE_AND_PAID, ...query } });
  const ofAuthor = { params: { user_id: mod.owner.id }, query: FREE_AND_PAID };
  const owned = { query: { 'id-in': String(mod.id) } };
  /** Every read that can show the mod to someone outside of its team. Collections contain no mod that is sold. */
  const reads: readonly Read[] = [
    { name: 'single', showsHidden: true, send: (reader) => reader.call(getMod, { params }) },
    { name: 'list', showsHidden: false, send: list({}) },
    { name: 'list by id', showsHidden: false, send: list({ 'id-in': String(mod.id) }) },
    { name: 'search', showsHidden: false, send: list({ _q: mod.name }) },
    { name: 'mods of the author', showsHidden: false, send: (reader) => reader.call(getModsOfUser, ofAuthor) },
    {
      name: 'look-up',
      showsHidden: true,
      send: (reader) => reader.call(lookupMods, { params, body: { ids: [mod.id] } }),
    },
    { name: 'files', showsHidden: true, send: (reader) => reader.call(getModfiles, { params }) },
    { name: 'file', showsHidden: true, send: (reader) => reader.call(getModfile, { params }) },
    { name: 'library', showsHidden: true, isOwn: true, send: (reader) => reader.call(getUserSubscriptions) },
    { name: 'purchases', showsHidden: true, isOwn: true, send: (reader) => reader.call(getUserPurchases, owned) },
  ];
  const shown = async ({ send }: Read, reader: Client) => {
    const { text } = await send(reader);
    return text.includes(`"name":"${mod.name}"`) || text.includes(`"mod_id":${mod.id},`);
  };
  return { params, author, buyer, stranger, reads, shown };
};

test('what shows a mod that is sold shows it to buyers and strangers alike; what is theirs, and downloads, tell them apart', async () => {
  const { params, buyer, stranger, reads, shown } = await aScene();
  for (const read of reads) {
    assert.equal(await shown(read, buyer), true, read.name);
    assert.equal(await shown(read, stranger), !read.isOwn, read.name);
    if (!read.isOwn) assert.equal((await read.send(buyer)).text, (await read.send(stranger)).text, read.name);
  }
  assert.equal((await buyer.call(downloadModfile, { params })).status, 200);
  await stranger.refused(downloadModfile, { params }, 422, 900_037);
});

test('a mod that was hidden after its sale is shown to its buyer by name and in what is theirs, and to no stranger', async () => {
  const { params, author, buyer, stranger, reads, shown } = await aScene();
  await author.call(editModByPut, { params, body: { visible: 0 } });
  for (const read of reads) {
    assert.equal(await shown(read, buyer), read.showsHidden, read.name);
    assert.equal(await shown(read, stranger), false, read.name);
  }
  assert.equal((await buyer.call(downloadModfile, { params })).status, 200);
  await stranger.refused(downloadModfile, { params }, 404, 15_022);
});

test('a returned mod that is hidden is shown to its former buyer by nothing', async () => {
  const { params, author, buyer, reads, shown } = await aScene();
  await author.call(editModByPut, { params, body: { visible: 0 } });
  assert.equal((await buyer.call(refundPurchase, { params })).status, 200);
  for (const read of reads) assert.equal(await shown(read, buyer), false, read.name);
  await buyer.refused(downloadModfile, { params }, 404, 15_022);
});
