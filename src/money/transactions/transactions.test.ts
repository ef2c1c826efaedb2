import assert from 'node:assert/strict';
import { test } from 'node:test';
import { items } from '../../../client/src/index.ts';
import { type Client, startApi, type User } from '../../../test/api.ts';
import { serviceOf } from '../../../test/browser.ts';
import { clientOf } from '../../../test/client/fetching.ts';
import { aPack, aSellingGame, type SellingGame, walletOf } from '../../../test/money.ts';
import { getGame } from '../../catalogue/games/operations.ts';
import { editModByPut } from '../../catalogue/mods/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { banUser } from '../../moderation/user-bans/operations.ts';
import { delegationToken } from '../../signin/oauth/operations.ts';
import { verifyLedger } from '../ledger/verification.ts';
import { getUserPurchases, purchase } from '../purchases/operations.ts';
import {
  getMonetizationTransaction,
  getMonetizationTransactions,
  transactionAbandon,
  transactionClawback,
  transactionCommit,
  transactionIntent,
} from './operations.ts';

const api = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PAYMENTS: 'simulated', MODSTEAD_RATE_LIMITS: 'off' },
});
const DAY = 86_400;
const PACK = { sku: 'coins', portal: 'steam' };

const sound = async () => assert.deepEqual((await verifyLedger(api.app())).problems, []);

interface Backend {
  readonly game: SellingGame;
  readonly backend: Client;
}

/** A game that sells a pack of 100 tokens in a store, and its backend. */
async function aBackend(options = 1 | 2): Promise<Backend> {
  const game = await aSellingGame(api, options);
  await aPack(api, game, { tokens: 100, price: 199, skus: ['steam=coins'] });
  return { game, backend: await serviceOf(api, game, 'read,write,monetization') };
}

interface Player {
  readonly user: User;
  readonly player: Client;
  readonly headers: Record<string, string>;
}

/** A player who has let the backend act for them. */
async function aPlayer(game: SellingGame): Promise<Player> {
  const user = await api.aUser();
  const player = await api.as(user, { gameId: game.id });
  const { token } = (await player.call(delegationToken)).body;
  return { user, player, headers: { 'x-modio-delegation-token': token } };
}

const begun = async ({ backend }: Backend, { headers }: Player, body: object = {}) =>
  (await backend.call(transactionIntent, { body: { ...PACK, ...body }, headers })).body;

const commit = async ({ backend }: Backend, transaction_id: number) =>
  (await backend.call(transactionCommit, { body: { transaction_id } })).body;

/** A mod for 40 tokens. */
async function aHat(game: SellingGame, offer = {}) {
  const mod = await api.aMod({ game });
  await api.aFile(mod);
  const params = { game_id: game.id, mod_id: mod.id };
  const author = await api.as(mod.owner);
  await author.call(editModByPut, { params, body: { price: 40, monetization_options: 3, ...offer } });
  return { mod, params, author };
}

const owned = async (player: Client) => (await player.call(getUserPurchases)).body.data.map(({ id }) => id);

test('an intent gives nothing, its commit gives the tokens once, and a second commit changes nothing', async () => {
  const at = await aBackend();
  const someone = await aPlayer(at.game);
  const intent = await begun(at, someone, { gateway_uuid: 'order-1' });
  assert.deepEqual(
    [intent.transaction_type, intent.gateway_uuid, intent.gross_amount, intent.meta[0]!.buyer_id],
    ['PENDING', 'order-1', 199, someone.user.id],
  );
  assert.equal((await walletOf(someone.player, at.game)).balance, 0);
  const answers = await Promise.all([1, 2, 3].map(() => commit(at, intent.transaction_id)));
  assert.deepEqual(new Set(answers.map(({ transaction_type }) => transaction_type)), new Set(['PAID']));
  assert.equal((await walletOf(someone.player, at.game)).balance, 100);
  await at.backend.refused(transactionAbandon, { body: { transaction_id: intent.transaction_id } }, 422, 900_000);
  await sound();
});

test('a lost answer is asked for again: by gateway_uuid, or by key, byte for byte', async () => {
  const at = await aBackend();
  const someone = await aPlayer(at.game);
  const other = await aPlayer(at.game);
  const first = await begun(at, someone, { gateway_uuid: 'order-1' });
  assert.deepEqual(await begun(at, someone, { gateway_uuid: 'order-1' }), first);
  const asked = { body: { ...PACK, gateway_uuid: 'order-1' }, headers: other.headers };
  await at.backend.refused(transactionIntent, asked, 422, 900_001);
  const keyed = { ...someone.headers, 'x-modio-idempotent-key': 'first' };
  const send = (body: object, headers = keyed) =>
    at.backend.call(transactionIntent, { body: { ...PACK, ...body }, headers });
  const answers = await Promise.all([1, 2, 3].map(() => send({})));
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  await at.backend.refused(
    transactionIntent,
    { body: { ...PACK, gateway_uuid: 'another' }, headers: keyed },
    422,
    900_001,
  );
  const theirs = await send({}, { ...other.headers, 'x-modio-idempotent-key': 'first' });
  assert.notEqual(theirs.text, answers[0]!.text);
  const body = { transaction_id: first.transaction_id, idempotent_key: 'commit' };
  const committed = await at.backend.call(transactionCommit, { body });
  const clawback = { transaction_id: first.transaction_id, portal: 'steam', refund_reason: 'Refunded' };
  await at.backend.call(transactionClawback, { body: clawback });
  assert.equal((await at.backend.call(transactionCommit, { body })).text, committed.text);
  assert.equal((await walletOf(someone.player, at.game)).balance, 0);
  await sound();
});

test('a sale that is abandoned, or not committed for a day, gives nothing, and can be begun again', async () => {
  const at = await aBackend();
  const someone = await aPlayer(at.game);
  const { transaction_id } = await begun(at, someone, { gateway_uuid: 'order-1' });
  for (const _ of [1, 2]) {
    const abandoned = await at.backend.call(transactionAbandon, { body: { transaction_id } });
    assert.equal(abandoned.body.transaction_type, 'CANCELLED');
  }
  await at.backend.refused(transactionCommit, { body: { transaction_id } }, 402, 900_030);
  const again = await begun(at, someone, { gateway_uuid: 'order-1' });
  api.clock.advance(DAY);
  const late = { ...at, backend: await serviceOf(api, at.game, 'read,write,monetization') };
  const player = await api.as(someone.user, { gameId: at.game.id });
  const { token } = (await player.call(delegationToken)).body;
  const expired = { body: { transaction_id: again.transaction_id } };
  await late.backend.refused(transactionCommit, expired, 402, 900_030);
  const third = await begun(
    late,
    { ...someone, headers: { 'x-service-delegation-token': token } },
    { gateway_uuid: 'order-1' },
  );
  assert.equal((await commit(late, third.transaction_id)).transaction_type, 'PAID');
  assert.equal((await walletOf(player, at.game)).balance, 100);
  const params = { monetization_team_id: at.game.id, transaction_id: third.transaction_id };
  const [shown] = (await late.backend.call(getMonetizationTransaction, { params })).body.data;
  assert.deepEqual(
    shown!.items.map(({ transaction_type }) => transaction_type),
    ['PENDING', 'CANCELLED', 'PENDING', 'FAILED', 'PENDING', 'PAID'],
  );
  await sound();
});

test('intents that nobody commits fail by a job', async () => {
  const at = await aBackend();
  const { transaction_id } = await begun(at, await aPlayer(at.game));
  api.clock.advance(DAY);
  await composeWorker(api.app()).runDue();
  const backend = await serviceOf(api, at.game, 'read,monetization');
  const list = await backend.call(getMonetizationTransactions, {
    params: { monetization_team_id: at.game.id },
    query: { transaction_type: 'failed' },
  });
  assert.deepEqual(
    list.body.data.map(({ id }) => id),
    [transaction_id],
  );
});

test('a clawback takes the tokens, and what was spent of them is owed and settled by the next sale', async () => {
  const at = await aBackend();
  const { mod, params } = await aHat(at.game);
  const someone = await aPlayer(at.game);
  const { transaction_id } = await begun(at, someone, { gateway_uuid: 'order-1' });
  const named = { gateway_uuid: 'order-1', portal: 'Steam', refund_reason: 'Chargeback', clawback_uuid: 'c-1' };
  await at.backend.refused(transactionClawback, { body: named }, 422, 900_000);
  await commit(at, transaction_id);
  await someone.player.call(purchase, { params, body: { idempotent_key: String(mod.id) } });
  const taken = await Promise.all([1, 2].map(() => at.backend.call(transactionClawback, { body: named })));
  for (const { body } of taken) assert.deepEqual([body.transaction_type, body.gross_amount], ['REFUNDED', 199]);
  assert.deepEqual(await walletOf(someone.player, at.game), { balance: 0, deficit: 40, pending: 0 });
  await commit(at, (await begun(at, someone)).transaction_id);
  assert.deepEqual(await walletOf(someone.player, at.game), { balance: 60, deficit: 0, pending: 0 });
  await at.backend.refused(transactionClawback, { body: { ...named, gateway_uuid: 'unknown' } }, 404, 14_000);
  await at.backend.refused(transactionClawback, { body: { ...named, portal: 'shop' } }, 422, 900_098);
  const elsewhere = await aBackend();
  const foreign = { body: { ...named, gateway_uuid: undefined, transaction_id } };
  await elsewhere.backend.refused(transactionClawback, foreign, 404, 14_000);
  await elsewhere.backend.refused(transactionCommit, { body: { transaction_id } }, 404, 14_000);
  await sound();
});

test('the tokens of a sale buy a mod at once, and its clawback takes the mod and the rest of the tokens', async () => {
  const at = await aBackend();
  const { mod, params, author } = await aHat(at.game);
  const someone = await aPlayer(at.game);
  const hat = { mod_id: mod.id, gateway_uuid: 'order-2' };
  const { transaction_id, gross_amount } = await begun(at, someone, hat);
  assert.equal(gross_amount, 199);
  await author.call(editModByPut, { params, body: { price: 90 } });
  await commit(at, transaction_id);
  assert.deepEqual(await owned(someone.player), [mod.id]);
  assert.deepEqual(await walletOf(someone.player, at.game), { balance: 60, deficit: 0, pending: 0 });
  assert.equal((await walletOf(author, at.game)).pending, 21);
  const again = { body: { ...PACK, mod_id: mod.id }, headers: someone.headers };
  await at.backend.refused(transactionIntent, again, 422, 900_034);
  assert.equal((await begun(at, someone, hat)).transaction_id, transaction_id);
  const team = { monetization_team_id: at.game.id, transaction_id };
  const [shown] = (await at.backend.call(getMonetizationTransaction, { params: team })).body.data;
  assert.deepEqual(shown!.items.at(-1)!.breakdown, [
    {
      platform: { revenue: 9 },
      store: [{ revenue: 10, users: [{ account_name: mod.owner.username, account_id: mod.owner.id, revenue: 21 }] }],
    },
  ]);
  const body = { transaction_id, portal: 'steam', reason: 'Refunded in the store' };
  await at.backend.call(transactionClawback, { body });
  assert.deepEqual(await owned(someone.player), []);
  assert.deepEqual(await walletOf(someone.player, at.game), { balance: 0, deficit: 0, pending: 0 });
  assert.equal((await walletOf(author, at.game)).pending, 0);
  await sound();
});

test('a mod that is too dear is refused at the intent; one that sold out since, at the commit, and gives nothing', async () => {
  const at = await aBackend(1 | 2 | 8);
  const limited = await aHat(at.game, { monetization_options: 11, stock: 1 });
  const dear = await aHat(at.game, { price: 101 });
  const [one, two] = [await aPlayer(at.game), await aPlayer(at.game)];
  const tooDear = { body: { ...PACK, mod_id: dear.mod.id }, headers: one.headers };
  await at.backend.refused(transactionIntent, tooDear, 422, 900_049);
  const hat = { mod_id: limited.mod.id };
  const intents = [await begun(at, one, hat), await begun(at, two, hat)];
  const answers = await Promise.all(
    intents.map(({ transaction_id }) => at.backend.call(transactionCommit, { body: { transaction_id } })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 422]);
  const loser = answers.findIndex(({ status }) => status === 422);
  const { transaction_id } = intents[loser]!;
  await at.backend.refused(transactionCommit, { body: { transaction_id } }, 422, 900_061);
  assert.equal((await walletOf([one, two][loser]!.player, at.game)).balance, 0);
  const abandoned = await at.backend.call(transactionAbandon, { body: { transaction_id } });
  assert.equal(abandoned.body.transaction_type, 'CANCELLED');
  await sound();
});

test('what cannot be sold is refused with its own error', async () => {
  const at = await aBackend();
  const { headers, user } = await aPlayer(at.game);
  const refused = (body: object, status: number, ref: number, by = at.backend) =>
    by.refused(transactionIntent, { body: { ...PACK, ...body }, headers }, status, ref);
  await refused({ sku: 'unknown' }, 422, 900_051);
  await refused({ portal: 'xboxlive' }, 403, 900_054);
  await refused({ portal: 'shop' }, 422, 900_098);
  await at.backend.refused(transactionIntent, { body: PACK }, 401, 11_059);
  await refused({}, 403, 11_104, (await aBackend()).backend);
  await refused({}, 403, 11_003, await serviceOf(api, at.game, 'read,monetization'));
  await refused({}, 403, 11_003, await serviceOf(api, at.game, 'read,write'));
  const idle = await aSellingGame(api, 0);
  const closed = await serviceOf(api, idle, 'write,monetization');
  const visitor = await aPlayer(idle);
  await closed.refused(transactionIntent, { body: PACK, headers: visitor.headers }, 403, 900_013);
  const { transaction_id } = (await at.backend.call(transactionIntent, { body: PACK, headers })).body;
  const staff = await api.as(await api.aUser({ admin: true }));
  await staff.call(banUser, { params: { user_id: user.id }, body: { reason: 'Fraud' } });
  await at.backend.refused(transactionCommit, { body: { transaction_id } }, 422, 900_007);
});

test('the list goes from page to page and back, and filters', async () => {
  const at = await aBackend();
  const someone = await aPlayer(at.game);
  const ids: number[] = [];
  for (const n of [1, 2, 3, 4, 5])
    ids.unshift((await begun(at, someone, { gateway_uuid: `order-${n}` })).transaction_id);
  await commit(at, ids[0]!);
  const team = (await api.withKey(at.game).call(getGame, { params: { game_id: at.game.id } })).body;
  const params = { monetization_team_id: team.monetization_teams[0]!.team_id };
  const read = async (query: object) =>
    (await at.backend.call(getMonetizationTransactions, { params, query: { ...query } })).body;
  const follow = async (url: string | null) => {
    const answer = await at.backend.send('GET', `${new URL(url!).pathname.replace('/v1', '')}${new URL(url!).search}`);
    return answer.body as Awaited<ReturnType<typeof read>>;
  };
  const idsOf = ({ data }: Awaited<ReturnType<typeof read>>) => data.map(({ id }) => id);
  const first = await read({ per_page: 2 });
  const second = await follow(first.meta.next_page_url);
  const third = await follow(second.meta.next_page_url);
  assert.deepEqual([first, second, third].map(idsOf), [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  assert.deepEqual(
    [first, second, third].map(({ meta }) => meta.current_page),
    [1, 2, 3],
  );
  assert.deepEqual([first.meta.prev_page_url, third.meta.next_page_url], [null, null]);
  const client = clientOf(api, { token: at.backend.token });
  const name = 'GET /s2s/monetization-teams/{monetization_team_id}/transactions';
  const listed = await Array.fromAsync(items(client, name, { ...params, per_page: 2 }));
  assert.deepEqual(
    listed.map(({ id }) => id),
    ids,
  );
  assert.deepEqual(idsOf(await follow(third.meta.prev_page_url)), ids.slice(2, 4));
  assert.deepEqual(idsOf(await read({ transaction_type: 'PAID' })), [ids[0]]);
  assert.deepEqual(idsOf(await read({ gateway_uuid: 'order-1' })), [ids[4]]);
  assert.deepEqual(idsOf(await read({ buyer: someone.user.id + 1_000_000 })), []);
  assert.deepEqual(idsOf(await read({ monetization_type: 'fiat' })), []);
  assert.equal(idsOf(await read({ line_items: 'coins' })).length, 5);
  api.clock.advance(31 * DAY);
  const later = await serviceOf(api, at.game, 'read,monetization');
  const cleared = await later.call(getMonetizationTransactions, { params, query: { transaction_type: 'CLEARED' } });
  assert.deepEqual(
    cleared.body.data.map(({ id, transaction_type }) => [id, transaction_type]),
    [[ids[0], 'CLEARED']],
  );
  await later.refused(getMonetizationTransactions, { params, query: { cursor: 'x' } }, 422, 13_009);
  const foreign = { monetization_team_id: at.game.id + 1 };
  await later.refused(getMonetizationTransactions, { params: foreign }, 404, 900_022);
});
