import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Client, type Mod, startApi } from '../../../test/api.ts';
import { MODERATOR } from '../teams/teams.ts';
import { deleteModOperation, editModByPut, getMod, getMods, getUserMods } from './operations.ts';

const api = await startApi();
const game = await api.aGame();
const otherGame = await api.aGame();

interface Known extends Mod {
  readonly status: number;
  readonly visible: number;
}

/** Every combination of states, for mods of Ada and of Grace, and the same in another game. */
const ada = await api.aUser();
const grace = await api.aUser();
const known: Known[] = [];
for (const where of [game, otherGame])
  for (const owner of [ada, grace])
    for (const status of [0, 1, 3])
      for (const visible of [0, 1]) known.push(await modIn(where, owner, status, visible));

async function modIn(where: typeof game, owner: typeof ada, status: number, visible: number): Promise<Known> {
  const mod = await api.aMod({ game: where, owner, visible, accepted: status !== 0 });
  if (status === 3)
    await (await api.as(owner)).call(deleteModOperation, { params: { game_id: where.id, mod_id: mod.id } });
  return { ...mod, status, visible };
}

const moderator = await api.aUser();
await api.joins(moderator, game, MODERATOR);

interface Caller {
  readonly who: string;
  readonly client: Client;
  readonly isOwn: (mod: Known) => boolean;
  readonly isGames: boolean;
}

const nobodys = () => false;
const callers: Caller[] = [
  { who: 'a key', client: api.withKey(game), isOwn: nobodys, isGames: false },
  { who: 'a stranger', client: await api.as(await api.aUser()), isOwn: nobodys, isGames: false },
  { who: 'the submitter', client: await api.as(ada), isOwn: ({ owner }) => owner.id === ada.id, isGames: false },
  { who: 'the game’s team', client: await api.as(moderator), isOwn: nobodys, isGames: true },
  {
    who: 'a member of the site staff',
    client: await api.as(await api.aUser({ admin: true })),
    isOwn: nobodys,
    isGames: true,
  },
];

const isPublic = ({ status, visible }: Known) => status === 1 && visible === 1;

for (const { who, client, isOwn, isGames } of callers) {
  const maySee = (mod: Known) => isPublic(mod) || isGames || isOwn(mod);

  test(`${who} can read a mod, gets that it was deleted, or gets not found`, async () => {
    for (const mod of known.filter(({ game_id }) => game_id === game.id)) {
      const input = { params: { game_id: game.id, mod_id: mod.id } };
      if (!maySee(mod)) await client.refused(getMod, input, 404, 15022);
      else if (mod.status === 3) await client.refused(getMod, input, 403, 15023);
      else assert.equal((await client.call(getMod, input)).body.id, mod.id);
    }
  });

  test(`${who} cannot read a mod of another game under this one`, async () => {
    for (const mod of known.filter(({ game_id }) => game_id !== game.id))
      await client.refused(getMod, { params: { game_id: game.id, mod_id: mod.id } }, 404, 15022);
  });

  test(`for ${who} a list without filters contains public mods`, async () => {
    const { body } = await client.call(getMods, { params: { game_id: game.id } });
    const expected = known.filter((mod) => mod.game_id === game.id && isPublic(mod)).map(({ id }) => id);
    assert.deepEqual([body.data.map(({ id }) => id), body.result_total], [expected, expected.length]);
  });

  test(`for ${who} no filter, search or alternative returns or counts a mod that they may not see`, async () => {
    const values = fc.subarray([0, 1, 3], { minLength: 1 });
    const asked = fc.record({ status: fc.option(values), visible: fc.option(values), either: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(asked, async ({ status, visible, either }) => {
        const query: Record<string, string | string[]> = { _q: 'example' };
        if (status) query['status-in'] = status.join(',');
        if (visible) query['visible-in'] = visible.join(',');
        const joined = either && status !== null && visible !== null;
        if (joined) query['or_fields'] = ['status,visible'];
        const { body } = await client.call(getMods, { params: { game_id: game.id }, query });
        const isAsked = (mod: Known) => {
          const [fitsStatus, fitsVisible] = [
            (status ?? [1]).includes(mod.status),
            (visible ?? [1]).includes(mod.visible),
          ];
          return joined ? fitsStatus || fitsVisible : fitsStatus && fitsVisible;
        };
        const isListed = (mod: Known) => isPublic(mod) || isGames || (isOwn(mod) && mod.status !== 3);
        const expected = known.filter((mod) => mod.game_id === game.id && isListed(mod) && isAsked(mod));
        const ids = expected.map(({ id }) => id);
        assert.deepEqual([body.data.map(({ id }) => id), body.result_total], [ids, ids.length]);
      }),
      { numRuns: 40 },
    );
  });

  test(`filters by state other than = and -in are ${isGames ? 'open' : 'closed'} to ${who}`, async () => {
    for (const name of ['status-not', 'status-min', 'visible-lk', 'visible-not-in', 'status-bitwise-and']) {
      const input = { params: { game_id: game.id }, query: { [name]: 1 } };
      if (isGames) assert.equal((await client.call(getMods, input)).status, 200);
      else await client.refused(getMods, input, 403, 15025);
    }
  });
}

test('a hidden mod leaves cached responses at once, and its team still sees it', async () => {
  const mod = await api.aMod({ game, owner: ada });
  const input = { params: { game_id: game.id, mod_id: mod.id } };
  const [reader, owner] = [api.withKey(game), await api.as(ada)];
  const total = async () => (await reader.call(getMods, { params: { game_id: game.id } })).body.result_total;
  const before = await total();
  assert.equal((await reader.call(getMod, input)).status, 200);
  await owner.call(editModByPut, { ...input, body: { visible: 0 } });
  assert.equal(await total(), before - 1);
  await reader.refused(getMod, input, 404, 15022);
  assert.equal((await owner.call(getMod, input)).body.visible, 0);
});

test('/me/mods lists all mods of the caller’s teams, deleted ones on request', async () => {
  const owner = await api.aUser();
  const client = await api.as(owner);
  const shown = await api.aMod({ game, owner });
  const hidden = await api.aMod({ game, owner, visible: 0 });
  const waiting = await api.aMod({ owner, accepted: false });
  const deleted = await api.aMod({ game, owner });
  await client.call(deleteModOperation, { params: { game_id: game.id, mod_id: deleted.id } });
  const ids = async (query: Record<string, string | number>) =>
    (await client.call(getUserMods, { query })).body.data.map(({ id }) => id);
  assert.deepEqual(await ids({}), [shown.id, hidden.id, waiting.id]);
  assert.deepEqual(await ids({ status: 3 }), [deleted.id]);
  assert.deepEqual(await ids({ 'status-not': 1 }), [waiting.id, deleted.id]);
  assert.equal((await (await api.as(await api.aUser())).call(getUserMods)).body.result_total, 0);
});
