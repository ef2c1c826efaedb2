import { sql } from 'kysely';
import { addGame, applyGameChanges } from '../src/catalogue/games/games.ts';
import { addMod, setOffer } from '../src/catalogue/mods/mods.ts';
import { composeService, outsideOf } from '../src/composition/compose.ts';
import { post, tokenAccount } from '../src/money/ledger/ledger.ts';
import { addUser } from '../src/people/users/users.ts';
import { issueToken } from '../src/platform/access/credentials.ts';
import { readSettings } from '../src/platform/config/settings.ts';

/** The service with mods for sale, buyers who have tokens, and a ledger with `BENCH_ENTRIES` entries, in its own process. */
const settings = readSettings(process.env);
const service = await composeService(settings, outsideOf(settings));
const app = service.apps.production;
const BUYERS = 64;
const MODS = 3_000;
const PRICE = 10;
const ENTRIES = Number(process.env['BENCH_ENTRIES']);
/** Accounts of other users, among which the entries are distributed. */
const ACCOUNTS = 10_000;
const OTHER_GAME = 999_999;

const FILE = {
  kind: 'file' as const,
  ...{ date_added: 1, date_updated: 1, date_scanned: 0, virus_status: 0, virus_positive: 0 },
  ...{ filesize: 1, filesize_uncompressed: 1, status: 1, withdrawn: 0, released: 1, virustotal_hash: null },
  ...{ md5: '', sha256: '', storage_key: 'bench', filename: 'mod.zip', filename_folded: 'mod.zip' },
  ...{ version: '', version_folded: '', changelog: '', changelog_folded: '' },
  ...{ metadata_blob: '', metadata_blob_folded: '' },
};

const content = await app.db.write(async (transaction) => {
  const { query } = transaction;
  const owner = await addUser(app, transaction, { username: 'Owner' });
  const game = await addGame(app, transaction, { name: 'Bench', ownerId: owner.id, accepted: true, summary: 'Sells' });
  await applyGameChanges(app, transaction, game.id, { monetization_options: 3, dependency_option: 2 }, 'en');
  const mods: number[] = [];
  for (let i = 0; i < MODS; i += 1) {
    const fields = { gameId: game.id, ownerId: owner.id, name: `Mod ${i}`, summary: 'A mod', accepted: true };
    const { id: mod_id } = await addMod(app, transaction, fields);
    const file = { ...FILE, mod_id, game_id: game.id, submitted_by: owner.id };
    const { id: modfile_id } = await query
      .insertInto('modfiles')
      .values(file)
      .returning('id')
      .executeTakeFirstOrThrow();
    await query.insertInto('mod_live_files').values({ mod_id, platform: '', modfile_id }).execute();
    // The second half is free, for the subscriptions.
    if (i < MODS / 2) await setOffer(transaction, mod_id, { price: PRICE, monetization_options: 3 });
    mods.push(mod_id);
  }
  const tokens: string[] = [];
  for (let i = 0; i < BUYERS; i += 1) {
    const { id } = await addUser(app, transaction, { username: `Buyer ${i}` });
    tokens.push((await issueToken(app, transaction, { userId: id })).access_token);
    await post(app, transaction, {
      kind: 'store_sale',
      gameId: game.id,
      cause: { operation: 'bench', actor: id },
      entries: [
        { account: tokenAccount('issued_tokens', game.id), amount: -1_000_000 },
        { account: tokenAccount('wallet', game.id, id), amount: 1_000_000 },
      ],
    });
  }
  return { game: game.id, tokens, paid: mods.slice(0, MODS / 2), free: mods.slice(MODS / 2) };
});

const PER_TRANSACTION = 4;
/** Transactions of the ledger that one statement adds: a statement on PostgreSQL has 20 seconds. */
const AT_ONCE = 10_000;
const numbers = (from: number, until: number) =>
  app.db.dialect === 'postgres'
    ? sql`select n from generate_series(${sql.lit(from)}::bigint, ${sql.lit(until)}) as numbers (n)`
    : sql`with recursive numbers (n) as (select ${sql.lit(from)} union all select n + 1 from numbers where n < ${sql.lit(until)})
        select n from numbers`;

/** Rows of another game: old sales that nobody reads again. Their hashes are made up. */
async function fillLedger(): Promise<void> {
  const { first, last } = await app.db.withLongTimeouts.write(async ({ query }) => {
    await sql`insert into ledger_accounts (kind, user_id, provider, game_id, currency, balance, entries, date_added)
      select 'studio_share', 1000000 + n, '', ${sql.lit(OTHER_GAME)}, 'TOKEN:999999', 0, 0, 1
      from (${numbers(1, ACCOUNTS)}) f`.execute(query);
    const accounts = await query
      .selectFrom('ledger_accounts')
      .select(({ fn }) => fn.min('id').as('first'))
      .where('game_id', '=', OTHER_GAME)
      .executeTakeFirstOrThrow();
    const transactions = await query
      .selectFrom('ledger_transactions')
      .select(({ fn }) => fn.max('id').as('last'))
      .executeTakeFirstOrThrow();
    return { first: Number(accounts.first), last: Number(transactions.last) };
  });
  const transactions = ENTRIES / PER_TRANSACTION;
  for (let done = 0; done < transactions; done += AT_ONCE)
    await fillSome(done + 1, Math.min(done + AT_ONCE, transactions), { first, last });
}

/** Each transaction has the id of its number behind the last one, which nothing else takes meanwhile. */
const fillSome = (from: number, until: number, { first, last }: { readonly first: number; readonly last: number }) =>
  app.db.withLongTimeouts.write(async ({ query }) => {
    await sql`insert into ledger_transactions (id, game_id, sequence, kind, operation, request_key, provider,
        provider_reference, user_id, reverses_id, date_added, previous, hash)
      select ${sql.lit(last)} + n, ${sql.lit(OTHER_GAME)}, n, 'merge', 'bench', '', '', '',
        1000000 + n % ${sql.lit(ACCOUNTS)}, 0, 1, '', '' from (${numbers(from, until)}) f`.execute(query);
    const [firstEntry, lastEntry] = [(from - 1) * PER_TRANSACTION, until * PER_TRANSACTION - 1];
    await sql`insert into ledger_entries (transaction_id, account_id, amount, balance_after)
      select ${sql.lit(last)} + 1 + n / ${sql.lit(PER_TRANSACTION)}, ${sql.lit(first)} + n % ${sql.lit(ACCOUNTS)}, 1, 1
      from (${numbers(firstEntry, lastEntry)}) f`.execute(query);
    if (app.db.dialect === 'postgres')
      await sql`select setval(pg_get_serial_sequence('ledger_transactions', 'id'), ${sql.lit(last + until)})`.execute(
        query,
      );
  });
await fillLedger();

process.on('message', (message) => {
  if (message === 'cpu') process.send!(process.cpuUsage());
  if (message === 'stop') void service.stop().then(() => process.exit(0));
});
process.on('disconnect', () => process.exit());
process.send!({ port: service.port, ...content });
