import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { addGame } from '../src/catalogue/games/games.ts';
import { addMod, listModsOfSubscriber } from '../src/catalogue/mods/mods.ts';
import { subscribe } from '../src/community/subscriptions/subscriptions.ts';
import { composeService, outsideOf } from '../src/composition/compose.ts';
import { addUser } from '../src/people/users/users.ts';
import type { UserCaller } from '../src/platform/access/caller.ts';
import { readSettings } from '../src/platform/config/settings.ts';
import type { Tables } from '../src/platform/database/database.ts';
import { manyUsers } from '../test/bulk-rows.ts';
import { median } from './figures.ts';

const { values: options } = parseArgs({
  options: { people: { type: 'string', default: '100000' }, help: { type: 'boolean' } },
});
if (options.help) {
  console.log(`npm run bench-subscriptions [-- --people 100000]
Measures what a subscription costs for a mod with few and with many subscribers, and what the list of someone with 2,000
subscriptions costs while other users have few and many, on SQLite. Results are CPU time. Both sizes run in turn, because
a busy machine slows them alike. The last column is the cost at 100 times the rows.`);
  process.exit(0);
}
const PEOPLE = Number(options.people);
const FEW = PEOPLE / 100;
const OWN = 2_000;
const ROUNDS = 20;
/** The first rounds include JIT compilation. */
const WARM_UP = 2;
const AT_ONCE = 20;
const FIRST_PERSON = 1_000_000;
const FIRST_SUBSCRIBER = 10_000_000;

const FILE = {
  kind: 'file' as const,
  ...{ date_added: 1, date_updated: 1, date_scanned: 0, virus_status: 0, virus_positive: 0 },
  ...{ filesize: 1, filesize_uncompressed: 1, status: 1, withdrawn: 0, released: 1, virustotal_hash: null },
  ...{ md5: '', sha256: '', storage_key: 'bench', filename: 'mod.zip', filename_folded: 'mod.zip' },
  ...{ version: '', version_folded: '', changelog: '', changelog_folded: '' },
  ...{ metadata_blob: '', metadata_blob_folded: '' },
};

const folder = mkdtempSync(join(process.cwd(), '.bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const callerOf = (userId: number): UserCaller => ({
  kind: 'user',
  userId,
  tokenId: 0,
  scopes: ['read', 'write'],
  gameId: undefined,
  admin: false,
  language: 'en',
  dateExpires: Number.POSITIVE_INFINITY,
  inTeams: false,
});

interface Size {
  readonly measured: Readonly<Record<string, () => Promise<unknown>>>;
  stop(): Promise<void>;
}

/** A service in which this many users subscribe to one mod and to some others. */
async function sized(people: number): Promise<Size> {
  const data = join(folder, String(people));
  const settings = readSettings({
    MODSTEAD_DATA: data,
    MODSTEAD_PORT: '0',
    MODSTEAD_JOBS: 'off',
    MODSTEAD_LOG: 'error',
  });
  const service = await composeService(settings, outsideOf(settings));
  const app = service.apps.production;
  const { game, reader, mods } = await app.db.write(async (transaction) => {
    const owner = await addUser(app, transaction, { username: 'Owner' });
    const reader = await addUser(app, transaction, { username: 'Reader' });
    const game = await addGame(app, transaction, { name: 'Bench Game', ownerId: owner.id, accepted: true });
    const mods: number[] = [];
    for (let i = 0; i < OWN; i += 1) {
      const mod = { gameId: game.id, ownerId: owner.id, name: `Mod ${i}`, summary: 'A mod', accepted: true };
      mods.push((await addMod(app, transaction, mod)).id);
    }
    const file = { ...FILE, mod_id: mods[0]!, game_id: game.id, submitted_by: owner.id };
    const added = transaction.query.insertInto('modfiles').values(file).returning('id');
    const { id: modfile_id } = await added.executeTakeFirstOrThrow();
    await transaction.query
      .insertInto('mod_live_files')
      .values({ mod_id: mods[0]!, platform: '', modfile_id })
      .execute();
    return { game, reader, mods };
  });
  const put = (rows: readonly Tables['subscriptions'][]) =>
    app.db.write(({ query }) =>
      query
        .insertInto('subscriptions')
        .values(rows)
        .onConflict((key) => key.doNothing())
        .execute(),
    );
  await put(mods.map((mod_id) => ({ user_id: reader.id, mod_id, date_added: 1 })));
  await manyUsers(app, people, FIRST_PERSON);
  const PUT_AT_ONCE = 500;
  for (let first = 0; first < people; first += PUT_AT_ONCE) {
    const some = Array.from({ length: Math.min(PUT_AT_ONCE, people - first) }, (_, i) => FIRST_PERSON + first + i);
    const modOf = (userId: number, n: number) => mods[n === 0 ? 0 : (userId * 7 + n) % OWN]!;
    await put(
      some.flatMap((user_id) => [0, 1, 2, 3, 4].map((n) => ({ user_id, mod_id: modOf(user_id, n), date_added: 1 }))),
    );
  }
  await manyUsers(app, (ROUNDS + WARM_UP) * AT_ONCE, FIRST_SUBSCRIBER);
  let next = FIRST_SUBSCRIBER;
  const list = { groups: [], words: [], sort: undefined, limit: 100, offset: 0 };
  const which = { gameId: game.id, modId: mods[0]!, includeDependencies: false };
  return {
    measured: {
      'subscribing to the mod': () => subscribe(app, callerOf(next++), which),
      'a page of 2,000 subscriptions': () => listModsOfSubscriber(app, callerOf(reader.id), list, 'en'),
    },
    stop: () => service.stop(),
  };
}

async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let i = 0; i < AT_ONCE; i += 1) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / AT_ONCE;
}

const sizes = [await sized(FEW), await sized(PEOPLE)];
console.log(
  `| what | at ${FEW} people, ms | at ${PEOPLE} people, ms | cost at 100 times the rows |\n| --- | --- | --- | --- |`,
);
for (const name of Object.keys(sizes[0]!.measured)) {
  const values: number[][] = sizes.map(() => []);
  for (let round = -WARM_UP; round < ROUNDS; round += 1)
    for (const [i, size] of sizes.entries()) {
      const ms = await cpuMsOf(size.measured[name]!);
      if (round >= 0) values[i]!.push(ms);
    }
  const [few, many] = values.map(median);
  console.log(`| ${name} | ${few!.toFixed(2)} | ${many!.toFixed(2)} | ${(many! / few!).toFixed(2)} |`);
}
for (const size of sizes) await size.stop();
