import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { addGame } from '../src/catalogue/games/games.ts';
import { addMod } from '../src/catalogue/mods/mods.ts';
import { closeApp, composeApp, outsideOf } from '../src/composition/compose.ts';
import { migrations } from '../src/composition/migrations.ts';
import { prepare } from '../src/composition/resources.ts';
import { addUser } from '../src/people/users/users.ts';
import type { App } from '../src/platform/app.ts';
import { readSettings } from '../src/platform/config/settings.ts';
import { statementsOf } from '../src/platform/database/migrate.ts';
import { fixtureFile, tablesMadeBy } from '../test/fixtures/fixtures.ts';
import { columnsOf, FIXED, insertRow, nextNumber, plainRow } from '../test/tables.ts';

// Writes rows of every table for the tests that upgrade from this version. Run it once per release, with the released
// code.

const MODS = ['Winter tracks', 'Förster & Söhne', '夜の森', 'Racing "pro"', 'Old roads'];
/** A job of an unknown kind would only be parked, and a made-up row would break the hash chain of the audit log. */
const NOT_PLANTED = ['jobs', 'audit_log', 'audit_head'];

/** Adds content through the rules of the service. */
async function addContent(app: App): Promise<void> {
  await prepare(app);
  await app.db.write(async (transaction) => {
    const owner = await addUser(app, transaction, { username: 'Lantern Yard', email: 'studio@example.org' });
    const author = await addUser(app, transaction, { username: 'Ada', email: 'ada@example.org' });
    const { id: gameId } = await addGame(app, transaction, { name: 'Rover', ownerId: owner.id, accepted: true });
    for (const name of MODS)
      await addMod(app, transaction, { gameId, ownerId: author.id, name, summary: `About ${name}`, accepted: true });
  });
}

/** Inserts a row, and the rows it refers to, into each table that is still empty. */
async function fillEmptyTables({ db }: App, tables: readonly string[]): Promise<void> {
  const columns = await columnsOf(db);
  for (const table of tables) {
    if (NOT_PLANTED.includes(table)) continue;
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db.query);
    if (rows.length > 0) continue;
    const row = await plainRow(db, columns, table, (name) => JSON.stringify(`${table} ${name} ${nextNumber()}`));
    await insertRow(db, table, { ...row, ...FIXED[table] });
  }
}

async function rowsOf({ db }: App, tables: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for (const table of tables) {
    const { rows } = await sql<object>`select * from ${sql.table(table)}`.execute(db.query);
    for (const row of rows) lines.push(JSON.stringify({ table, row }));
  }
  return lines;
}

const [version] = process.argv.slice(2);
if (!version) throw new Error('npm run fixture -- VERSION');
const data = mkdtempSync(join(tmpdir(), 'modstead-fixture-'));
const settings = readSettings({ MODSTEAD_DATA: data, MODSTEAD_PORT: '8443', MODSTEAD_LOG: 'error' });
const app = await composeApp(settings, 'production', outsideOf(settings));
// Only tables that exist on both databases.
const onPostgres = tablesMadeBy(migrations.flatMap((each) => statementsOf(each, 'postgres')));
const tables = tablesMadeBy(migrations.flatMap((each) => statementsOf(each, 'sqlite'))).filter((table) =>
  onPostgres.includes(table),
);
await addContent(app);
await fillEmptyTables(app, tables);
const lines = await rowsOf(app, tables);
await closeApp(app);
rmSync(data, { recursive: true });
writeFileSync(fixtureFile(version), `${[JSON.stringify(migrations.map(({ name }) => name)), ...lines].join('\n')}\n`);
console.log(`${fixtureFile(version)}: ${lines.length} rows of ${tables.length} tables`);
