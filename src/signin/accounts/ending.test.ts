import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startApi, type User } from '../../../test/api.ts';
import { Barrier } from '../../../test/barriers.ts';
import { DECLARED, placesOf, setNextUserId } from '../../../test/people.ts';
import { columnsOf } from '../../../test/tables.ts';
import { addModOperation, getMod } from '../../catalogue/mods/operations.ts';
import { addModRating } from '../../community/ratings/operations.ts';
import { getUserSubscriptions, subscribeToMod } from '../../community/subscriptions/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { followUserOperation, getMyFollowing } from '../../people/follows/operations.ts';
import { getUsersMuted, muteAUser } from '../../people/mutes/operations.ts';
import type { App } from '../../platform/app.ts';
import type { Query, Transaction } from '../../platform/database/database.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { accountJobs } from './jobs.ts';
import { deleteAUser, mergeOwnAccount } from './operations.ts';
import { SETTLE_JOB } from './settling.ts';

const api = await startApi({ settings: { MODSTEAD_RATE_LIMITS: 'off', MODSTEAD_JOBS: 'off' } });
const app = api.app();
const { db } = app;
const columns = await columnsOf(db);
const barrier = new Barrier(...api.apps());
const worker = composeWorker(app);
const operator = await api.as(await api.aUser({ admin: true }));
const game = await api.aGame();
const mods = [await api.aMod({ game }), await api.aMod({ game }), await api.aMod({ game })];
for (const mod of mods) await api.aFile(mod);
const at = (index: number) => ({ game_id: game.id, mod_id: mods[index]!.id });

interface Person extends User {
  readonly client: Client;
}
async function someone(): Promise<Person> {
  const user = await api.aUser({ email: `${api.unique('ending').replace(' ', '.')}@example.org` });
  return { ...user, client: await api.as(user) };
}
const target = await api.aUser();
await setNextUserId(db, 900_000);

/** Adds rows to several resources: one whose rows are simply moved, and some that have counters. */
async function leaveTraces({ client, id }: Person, index: number): Promise<void> {
  await client.call(muteAUser, { params: { user_id: target.id } });
  await client.call(subscribeToMod, { params: at(index) });
  await client.call(addModRating, { params: at(index), body: { rating: 1 } });
  await client.call(followUserOperation, { params: { user_id: id }, body: { user_id: target.id } });
}

const merge = (into: Person, from: Person) =>
  into.client.call(mergeOwnAccount, { body: { access_token: from.client.token! } });
const remove = (person: Person) => operator.call(deleteAUser, { params: { user_id: person.id } });

async function hasTraces({ client }: Person, index: number): Promise<void> {
  assert.deepEqual(
    (await client.call(getUsersMuted)).body.data.map(({ id }) => id),
    [target.id],
  );
  assert.deepEqual(
    (await client.call(getMyFollowing)).body.data.map(({ id }) => id),
    [target.id],
  );
  const subscribed = (await client.call(getUserSubscriptions)).body.data.map(({ id }) => id);
  assert.ok(subscribed.includes(mods[index]!.id), 'the subscription is lost');
  const { stats } = (await client.call(getMod, { params: at(index) })).body;
  const counted = async (table: 'subscriptions', id: number) =>
    (await db.query.selectFrom(table).select('user_id').where('mod_id', '=', id).execute()).length;
  assert.equal(stats.subscribers_total, await counted('subscriptions', mods[index]!.id));
  const ratings = await db.query
    .selectFrom('ratings')
    .select('user_id')
    .where('resource_id', '=', mods[index]!.id)
    .execute();
  assert.equal(stats.ratings_total, ratings.length);
}

const KEEPERS = (when: 'whenDeleted' | 'whenMerged') => [
  ...DECLARED.filter((each) => typeof each[when] === 'object').map(({ table, column }) => `${table}.${column}`),
  'users.id',
  // Written by triggers, like the account itself.
  'user_cards.id',
  'users.merged_into',
];
async function namesNobody({ id }: Person, when: 'whenDeleted' | 'whenMerged'): Promise<void> {
  const mayStay = KEEPERS(when);
  assert.deepEqual(
    (await placesOf(db, columns, id)).filter((place) => !mayStay.includes(place)),
    [],
  );
}

/** The worker of another process, whose writes can be paused independently. */
function anotherProcess(): { app: App; barrier: Barrier } {
  const other: App = { ...app, db: { ...db } };
  return { app: other, barrier: new Barrier(other) };
}

const isGone = async (person: Person) =>
  (await db.query.selectFrom('users').select('status').where('id', '=', person.id).executeTakeFirstOrThrow()).status ===
  3;

/** Removes the job from the queue, so that the test decides where and when it runs. */
async function takenFromQueue(userId: number): Promise<(on: App) => Promise<void>> {
  const rows = await db.query.selectFrom('jobs').selectAll().where('kind', '=', SETTLE_JOB).execute();
  const row = rows.find(({ payload }) => payload.includes(String(userId)))!;
  await db.write(({ query }) => query.deleteFrom('jobs').where('id', '=', row.id).execute());
  const handler = accountJobs.find((each) => each.kind === SETTLE_JOB)! as JobHandler<App>;
  const job = { id: 0, attempt: 1, heartbeat: async () => {} };
  return async (on) => void (await handler.run(on, JSON.parse(row.payload), job));
}

/** Another process starts to merge one account into another, and is paused at a step. */
async function heldMove(from: Person, where: Where) {
  const move = await takenFromQueue(from.id);
  const slow = anotherProcess();
  const step = typeof where === 'number' ? stepAfter(slow.barrier, where) : slow.barrier.next('done', movesMutes(from));
  const running = move(slow.app);
  await step.reached;
  const goOn = (): Promise<void> => {
    step.go();
    return running;
  };
  return { goOn };
}

/** Before the step with this number, or within the step that moves the muted users. */
type Where = number | 'muted';
const WHERE: readonly Where[] = [0, 20, 40, 'muted'];

function stepAfter(held: Barrier, steps: number) {
  for (let index = 0; index < steps; index += 1) held.next('before').go();
  return held.next('before');
}

const movesMutes =
  ({ id }: Person) =>
  async ({ query }: Transaction): Promise<boolean> =>
    (await query.selectFrom('mutes').select('user_id').where('user_id', '=', id).execute()).length === 0;

for (const where of WHERE)
  test(`a chain of merges moves everything to the last account when the middle one ends at ${where}`, async () => {
    const [first, second, third] = [await someone(), await someone(), await someone()];
    await leaveTraces(first, 0);
    assert.equal((await merge(second, first)).status, 204);
    const { goOn } = await heldMove(first, where);
    let answer: ReturnType<typeof merge> | undefined;
    const state = await barrier.endsOrWaits(() => (answer = merge(third, second)));
    if (state === 'ended' || typeof where === 'number') {
      assert.equal((await answer!).status, 204);
      await (await takenFromQueue(second.id))(app);
    }
    await goOn();
    assert.equal((await answer!).status, 204);
    await worker.runDue();
    await hasTraces(third, 0);
    for (const person of [first, second]) await namesNobody(person, 'whenMerged');
  });

for (const where of WHERE)
  test(`no personal data is left of a merged account when its target is deleted at ${where}`, async () => {
    const [first, second] = [await someone(), await someone()];
    await leaveTraces(first, 2);
    assert.equal((await merge(second, first)).status, 204);
    const { goOn } = await heldMove(first, where);
    let answer: ReturnType<typeof remove> | undefined;
    const state = await barrier.endsOrWaits(() => (answer = remove(second)));
    if (state === 'ended' || typeof where === 'number') {
      assert.equal((await answer!).status, 204);
      await (await takenFromQueue(second.id))(app);
    }
    await goOn();
    assert.equal((await answer!).status, 204);
    await worker.runDue();
    for (const person of [first, second]) {
      await namesNobody(person, 'whenDeleted');
      const { username } = await db.query
        .selectFrom('users')
        .select('username')
        .where('id', '=', person.id)
        .executeTakeFirstOrThrow();
      assert.equal(username, `deleted-${person.id}`);
    }
  });

test('two accounts that merge each other at the same time become one account', async () => {
  const [one, other] = [await someone(), await someone()];
  const held = [
    await barrier.upTo('before', () => merge(one, other)),
    await barrier.upTo('before', () => merge(other, one)),
  ];
  for (const { stop } of held) stop.go();
  const statuses = await Promise.all(held.map(async ({ answer }) => (await answer).status));
  assert.deepEqual(statuses.toSorted(), [204, 401]);
  assert.deepEqual([await isGone(one), await isGone(other)].toSorted(), [false, true]);
});

test('an account that is being deleted cannot be the target of a merge', async () => {
  for (const point of ['before', 'done'] as const) {
    const [from, into] = [await someone(), await someone()];
    await leaveTraces(from, 0);
    const deletion = await barrier.upTo(point, () => remove(into));
    let answer: ReturnType<typeof merge> | undefined;
    if (point === 'before') {
      const merging = await barrier.upTo('before', () => merge(into, from));
      deletion.stop.go();
      assert.equal((await deletion.answer).status, 204);
      merging.stop.go();
      answer = merging.answer;
    } else {
      assert.equal(await barrier.endsOrWaits(() => (answer = merge(into, from))), 'waits');
      deletion.stop.go();
      assert.equal((await deletion.answer).status, 204);
    }
    assert.equal((await answer!).status, 401);
    assert.equal(await isGone(from), false);
    await worker.runDue();
    await hasTraces(from, 0);
    await namesNobody(into, 'whenDeleted');
  }
});

test('the next run finishes a merge that was interrupted at any step', async () => {
  for (const reached of [0, 15, 30, 45]) {
    const [from, to] = [await someone(), await someone()];
    await leaveTraces(from, 1);
    assert.equal((await merge(to, from)).status, 204);
    const move = await takenFromQueue(from.id);
    let steps = 0;
    const write: App['db']['write'] = (work) => {
      steps += 1;
      if (steps > reached) throw new Error('the process ended');
      return db.write(work);
    };
    await assert.rejects(async () => move({ ...app, db: { ...db, write } }));
    await move(app);
    await hasTraces(to, 1);
    await namesNobody(from, 'whenMerged');
  }
});

test('a merge that three processes run at once counts nothing twice', async () => {
  const [from, to] = [await someone(), await someone()];
  for (const index of [0, 1, 2]) await leaveTraces(from, index);
  await leaveTraces(to, 1);
  assert.equal((await merge(to, from)).status, 204);
  const move = await takenFromQueue(from.id);
  await Promise.all([app, anotherProcess().app, anotherProcess().app].map(move));
  for (const index of [0, 1, 2]) await hasTraces(to, index);
  await namesNobody(from, 'whenMerged');
});

test('a user cannot add a mod while their account is being deleted', async () => {
  for (const point of ['before', 'done'] as const) {
    const author = await someone();
    const named = { name: api.unique('Late'), summary: 'It came too late' };
    const files = { logo: { filename: 'a.png', bytes: await aLogo() } };
    const add = () => author.client.call(addModOperation, { params: { game_id: game.id }, body: named, files });
    const led = (query: Query) => query.selectFrom('mods').select('id').where('submitted_by', '=', author.id).execute();
    // The picture is prepared in an earlier transaction of its own.
    const isAdded = async ({ query }: Transaction) => (await led(query)).length > 0;
    const adding = await barrier.upTo(point, add, point === 'done' ? isAdded : undefined);
    assert.ok(adding.isHeld);
    let deletion: ReturnType<typeof remove> | undefined;
    const state = await barrier.endsOrWaits(() => (deletion = remove(author)));
    if (point === 'before') assert.equal((await deletion!).status, 204);
    else assert.equal(state, 'waits');
    adding.stop.go();
    const statuses = [(await adding.answer).status, (await deletion!).status];
    assert.deepEqual(statuses, point === 'before' ? [401, 204] : [201, 403]);
    assert.equal((await led(db.query)).length, (await isGone(author)) ? 0 : 1);
  }
});

async function aLogo(): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  return sharp({ create: { width: 512, height: 288, channels: 3, background: '#305070' } })
    .png()
    .toBuffer();
}
