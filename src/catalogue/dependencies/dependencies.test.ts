import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Game, type Mod, startApi } from '../../../test/api.ts';
import { manyMods } from '../../../test/bulk-rows.ts';
import { editGameOperation } from '../games/operations.ts';
import { deleteModOperation, editModOperation, getMod, getMods } from '../mods/operations.ts';
import { addModDependencies, deleteModDependencies, getModDependants, getModDependencies } from './operations.ts';

const api = await startApi({ writesRows: true });

const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });

/** A game whose owner also owns its mods. */
async function aWorld(count: number, dependency_option = 3): Promise<{ game: Game; mods: Mod[]; owner: Client }> {
  const game = await api.aGame({ settings: { dependency_option } });
  const mods: Mod[] = [];
  for (let i = 0; i < count; i += 1) mods.push(await api.aMod({ game, owner: game.owner }));
  return { game, mods, owner: await api.as(game.owner) };
}

async function depends(client: Client, mod: Mod, ...on: Mod[]): Promise<void> {
  const answer = await client.call(addModDependencies, {
    params: at(mod),
    body: { dependencies: on.map(({ id }) => id) },
  });
  assert.equal(answer.status, 201, answer.text);
}

async function needs(client: Client, mod: Mod, recursive = false): Promise<[number, number][]> {
  const answer = await client.call(getModDependencies, { params: at(mod), query: { recursive } });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.result_total, answer.body.data.length);
  return answer.body.data.map((each) => [each.mod_id, each.dependency_depth]);
}

async function neededBy(client: Client, mod: Mod): Promise<number[]> {
  const answer = await client.call(getModDependants, { params: at(mod) });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.data.map((each) => each.mod_id);
}

test('a mod lists its dependencies, its object says that it has some, and the others list their dependants', async () => {
  const { game, mods, owner } = await aWorld(3);
  const [a, b, c] = mods as [Mod, Mod, Mod];
  const reader = api.withKey(game);
  const says = async () => (await reader.call(getMod, { params: at(a) })).body.dependencies;
  assert.equal(await says(), false);
  assert.deepEqual(await needs(reader, a), []);
  assert.deepEqual(await neededBy(reader, c), []);
  await depends(owner, a, c, b, c);
  assert.deepEqual(await needs(reader, a), [
    [b.id, 1],
    [c.id, 1],
  ]);
  assert.deepEqual(await neededBy(reader, c), [a.id]);
  assert.equal(await says(), true);
  const { data } = (await reader.call(getMods, { params: { game_id: game.id } })).body;
  assert.deepEqual(
    data.map((mod) => mod.dependencies),
    [true, false, false],
  );
  const { body } = await reader.call(getModDependencies, { params: at(a) });
  assert.equal(body.data[0]?.summary, 'An example');
});

test('a mod without its last dependency has none; removing a missing dependency is ignored', async () => {
  const { game, mods, owner } = await aWorld(3);
  const [a, b, c] = mods as [Mod, Mod, Mod];
  await depends(owner, a, b, c);
  const remove = (...ids: number[]) =>
    owner.call(deleteModDependencies, { params: at(a), body: { dependencies: ids } });
  assert.equal((await remove(b.id)).status, 204);
  assert.deepEqual(await needs(api.withKey(game), a), [[c.id, 1]]);
  assert.equal((await remove(c.id, b.id, 999_999)).status, 204);
  assert.equal((await remove(c.id)).status, 204);
  assert.equal((await owner.call(getMod, { params: at(a) })).body.dependencies, false);
});

test('sync replaces the list, and an empty one clears it', async () => {
  const { mods, owner } = await aWorld(4);
  const [a, b, c, d] = mods as [Mod, Mod, Mod, Mod];
  await depends(owner, a, b, c);
  const sync = async (body: Record<string, string | number[] | boolean>) => {
    const answer = await owner.call(addModDependencies, { params: at(a), body: { sync: true, ...body } });
    assert.equal(answer.status, 201, answer.text);
    return (await needs(owner, a)).map(([id]) => id);
  };
  assert.deepEqual(await sync({ dependencies: [c.id, d.id] }), [c.id, d.id]);
  assert.deepEqual(await sync({ 'dependencies[]': '' }), []);
  await depends(owner, a, b);
  assert.deepEqual(await sync({}), []);
});

test('clients may send the list in input_json and with indexes', async () => {
  const { mods, owner } = await aWorld(3);
  const [a, b, c] = mods as [Mod, Mod, Mod];
  const input_json = JSON.stringify({ dependencies: [b.id] });
  assert.equal((await owner.call(addModDependencies, { params: at(a), body: { input_json } })).status, 201);
  const path = `/games/${a.game_id}/mods/${a.id}/dependencies`;
  assert.equal((await owner.send('POST', path, { body: `dependencies[0]=${c.id}` })).status, 201);
  assert.equal((await needs(owner, a)).length, 2);
});

test('recursive lists go five levels deep and contain each mod once, at its lowest depth', async () => {
  const { mods, owner } = await aWorld(8);
  for (let i = 0; i < 7; i += 1) await depends(owner, mods[i]!, mods[i + 1]!);
  await depends(owner, mods[0]!, mods[3]!);
  assert.deepEqual(await needs(owner, mods[0]!, true), [
    [mods[1]!.id, 1],
    [mods[3]!.id, 1],
    [mods[2]!.id, 2],
    [mods[4]!.id, 2],
    [mods[5]!.id, 3],
    [mods[6]!.id, 4],
    [mods[7]!.id, 5],
  ]);
  assert.deepEqual((await needs(owner, mods[1]!, true)).at(-1), [mods[6]!.id, 5]);
  const second = await owner.call(getModDependencies, {
    params: at(mods[0]!),
    query: { recursive: true, _limit: 2, _offset: 2 },
  });
  assert.deepEqual(
    second.body.data.map((each) => each.mod_id),
    [mods[2]!.id, mods[4]!.id],
  );
  assert.equal(second.body.result_total, 7);
});

test('a mod cannot depend on itself, in a cycle, on another game’s mod or on a missing one', async () => {
  const { mods, owner } = await aWorld(4);
  const [a, b, c, d] = mods as [Mod, Mod, Mod, Mod];
  await depends(owner, a, b);
  await depends(owner, b, c);
  await depends(owner, c, d);
  const elsewhere = await api.aMod();
  for (const [mod, id] of [
    [a, a.id],
    [b, a.id],
    [d, a.id],
    [a, elsewhere.id],
    [a, 999_999],
  ] as const) {
    const answer = await owner.refused(
      addModDependencies,
      { params: at(mod), body: { dependencies: [id] } },
      422,
      13009,
    );
    assert.deepEqual(Object.keys(answer.body.error.errors ?? {}), ['dependencies']);
  }
  assert.deepEqual(await needs(owner, d), []);
});

test('two concurrent requests cannot close a cycle together', async () => {
  const { mods, owner } = await aWorld(4);
  const [a, b, c, d] = mods as [Mod, Mod, Mod, Mod];
  await depends(owner, b, c);
  await depends(owner, d, a);
  const both = await Promise.all(
    [
      [a, b],
      [c, d],
    ].map(([from, to]) => owner.call(addModDependencies, { params: at(from!), body: { dependencies: [to!.id] } })),
  );
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 422]);
});

test('a request needs between one and fifty dependencies', async () => {
  const { mods, owner } = await aWorld(1);
  const ids = Array.from({ length: 51 }, (_, index) => 1_000 + index);
  for (const body of [{ dependencies: ids }, { sync: false }])
    for (const operation of [addModDependencies, deleteModDependencies]) {
      const answer = await owner.refused(operation, { params: at(mods[0]!), body }, 422, 13009);
      assert.deepEqual(Object.keys(answer.body.error.errors ?? {}), ['dependencies']);
    }
});

test('only managers of the mod and of its game change dependencies', async () => {
  const { game, mods, owner } = await aWorld(2);
  const mod = await api.aMod({ game });
  const body = { dependencies: [mods[0]!.id] };
  const [moderator, manager] = [await api.aUser(), await api.aUser()];
  await api.joinsMod(moderator, mod, 1);
  await api.joinsMod(manager, mod, 4);
  for (const each of [await api.as(moderator), await api.as(await api.aUser())]) {
    await each.refused(addModDependencies, { params: at(mod), body }, 403, 15031);
    await each.refused(deleteModDependencies, { params: at(mod), body }, 403, 15032);
  }
  await depends(await api.as(manager), mod, mods[0]!);
  await depends(owner, mod, mods[1]!);
  assert.equal((await (await api.as(manager)).call(deleteModDependencies, { params: at(mod), body })).status, 204);
});

test('depending on another user’s hidden mod fails as if it did not exist', async () => {
  const { game } = await aWorld(0);
  const [mine, secret] = [await api.aMod({ game }), await api.aMod({ game, visible: 0 })];
  const me = await api.as(mine.owner);
  const body = { dependencies: [secret.id] };
  await me.refused(addModDependencies, { params: at(mine), body }, 422, 13009);
  await api.joinsMod(mine.owner, secret, 1);
  await depends(me, mine, secret);
});

test('lists contain hidden, deleted and unaccepted dependencies, but only with their identifiers', async () => {
  const { game, mods, owner } = await aWorld(4);
  const [a, hidden, deleted, shown] = mods as [Mod, Mod, Mod, Mod];
  await depends(owner, a, hidden, deleted, shown);
  await depends(owner, hidden, shown);
  await owner.call(editModOperation, { params: at(hidden), body: { visible: 0, description: 'A secret' } });
  assert.equal((await owner.call(deleteModOperation, { params: at(deleted) })).status, 204);
  const answer = await api.withKey(game).call(getModDependencies, { params: at(a) });
  assert.deepEqual(
    answer.body.data.map((each) => [each.mod_id, each.status, each.visible, each.name, 'summary' in each]),
    [
      [hidden.id, 1, 0, hidden.name, false],
      [deleted.id, 3, 1, deleted.name, false],
      [shown.id, 1, 1, shown.name, true],
    ],
  );
  assert.doesNotMatch(answer.text.slice(0, answer.text.indexOf(`"id":${shown.id}`)), /secret|submitted_by/i);
  assert.deepEqual(await neededBy(api.withKey(game), shown), [a.id], 'hidden dependants are left out');
  assert.deepEqual(await neededBy(owner, shown), [a.id, hidden.id]);
  const own = await owner.call(getModDependencies, { params: at(a) });
  assert.match(own.text, /A secret/);
  const member = await api.aUser();
  await api.joinsMod(member, hidden, 1);
  assert.match((await (await api.as(member)).call(getModDependencies, { params: at(a) })).text, /A secret/);
});

test('a game that disables dependencies hides them and stores them', async () => {
  const { game, mods, owner } = await aWorld(3);
  const [a, b, c] = mods as [Mod, Mod, Mod];
  await depends(owner, a, b);
  const reader = api.withKey(game);
  const seen = async () => [
    (await needs(reader, a, true)).length,
    (await neededBy(reader, b)).length,
    (await reader.call(getMod, { params: at(a) })).body.dependencies,
  ];
  const setOption = async (dependency_option: number) => {
    const answer = await owner.call(editGameOperation, { params: { game_id: game.id }, body: { dependency_option } });
    assert.equal(answer.status, 200, answer.text);
  };
  assert.deepEqual(await seen(), [1, 1, true]);
  await setOption(0);
  assert.deepEqual(await seen(), [0, 0, false]);
  await owner.refused(addModDependencies, { params: at(a), body: { dependencies: [c.id] } }, 403, 15031);
  await setOption(2);
  assert.deepEqual(await seen(), [1, 1, true]);
});

const ALLOW = 1_024;

for (const [option, isNewOneOpen] of [
  [1, false],
  [2, true],
] as const)
  test(`with dependency_option ${option} a new mod ${isNewOneOpen ? 'can' : 'cannot yet'} be a dependency, and its team decides`, async () => {
    const { mods, owner } = await aWorld(2, option);
    const [a, b] = mods as [Mod, Mod];
    const body = { dependencies: [b.id] };
    const { community_options } = (await owner.call(getMod, { params: at(b) })).body;
    assert.equal((community_options & ALLOW) !== 0, isNewOneOpen);
    const decide = (bits: number) => owner.call(editModOperation, { params: at(b), body: { community_options: bits } });
    await decide(community_options & ~ALLOW);
    await owner.refused(addModDependencies, { params: at(a), body }, 403, 15031);
    await decide(community_options | ALLOW);
    await depends(owner, a, b);
  });

test('paid mods neither have dependencies nor are dependencies', async () => {
  const { mods, owner } = await aWorld(2);
  const [paid, free] = mods as [Mod, Mod];
  const { db } = api.app();
  await db.write(({ query }) => query.updateTable('mods').set({ price: 100 }).where('id', '=', paid.id).execute());
  await owner.refused(addModDependencies, { params: at(paid), body: { dependencies: [free.id] } }, 403, 15031);
  await owner.refused(addModDependencies, { params: at(free), body: { dependencies: [paid.id] } }, 403, 15031);
});

test('a mod has at most five hundred dependencies', async () => {
  const { mods, owner } = await aWorld(3);
  const [a, b, c] = mods as [Mod, Mod, Mod];
  const others = await manyMods(api.app(), a, 499);
  const many = others.map((dependency_id) => ({ mod_id: a.id, dependency_id, date_added: 1 }));
  await api.app().db.write(({ query }) => query.insertInto('mod_dependencies').values(many).execute());
  await depends(owner, a, b);
  const answer = await owner.refused(addModDependencies, { params: at(a), body: { dependencies: [c.id] } }, 422, 13009);
  assert.match(answer.body.error.errors?.['dependencies'] ?? '', /500/);
});

test('with dependency_option 3 every mod can be a dependency', async () => {
  const { game, mods, owner } = await aWorld(1, 3);
  await depends(owner, mods[0]!, await api.aMod({ game, community_options: 0 }));
});

test('a mod with dependants can neither be deleted nor forbid dependencies, until it has none', async () => {
  const { mods, owner } = await aWorld(3, 2);
  const [a, b, c] = mods as [Mod, Mod, Mod];
  await depends(owner, a, b);
  await owner.refused(deleteModOperation, { params: at(b) }, 403, 15019);
  await owner.refused(editModOperation, { params: at(b), body: { status: 3 } }, 403, 15019);
  const closing = { params: at(b), body: { community_options: 0 } };
  const answer = await owner.refused(editModOperation, closing, 422, 13009);
  assert.deepEqual(Object.keys(answer.body.error.errors ?? {}), ['community_options']);
  assert.equal((await owner.call(editModOperation, { params: at(c), body: { community_options: 0 } })).status, 200);
  assert.equal((await owner.call(deleteModOperation, { params: at(a) })).status, 204);
  assert.equal((await owner.call(editModOperation, closing)).status, 200);
  assert.equal((await owner.call(deleteModOperation, { params: at(b) })).status, 204);
});

test('with dependency_option 3 a mod with dependants can be deleted and forbid dependencies', async () => {
  const { mods, owner } = await aWorld(2, 3);
  await depends(owner, mods[0]!, mods[1]!);
  const at1 = { params: at(mods[1]!) };
  assert.equal((await owner.call(editModOperation, { ...at1, body: { community_options: 0 } })).status, 200);
  assert.equal((await owner.call(deleteModOperation, at1)).status, 204);
});

test('only callers who can see a hidden mod list its dependencies', async () => {
  const { game, mods, owner } = await aWorld(2);
  await depends(owner, mods[0]!, mods[1]!);
  await owner.call(editModOperation, { params: at(mods[0]!), body: { visible: 0 } });
  await api.withKey(game).refused(getModDependencies, { params: at(mods[0]!) }, 404, 15022);
  await api.withKey(game).refused(getModDependants, { params: at(mods[0]!) }, 404, 15022);
  assert.equal((await needs(owner, mods[0]!)).length, 1);
});
