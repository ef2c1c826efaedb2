import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import pg from 'pg';
import { migrations } from '../../composition/migrations.ts';
import { isUnreleased, migrate, UNRELEASED } from '../../platform/database/migrate.ts';
import { openPostgres } from '../../platform/database/postgres.ts';
import { openLongClient } from '../../platform/database/postgres-connecting.ts';
import { Refusal } from '../invocation/command.ts';

// Stores the rows of a PostgreSQL database as text, one per line. The server writes and parses the lines, so that every
// value round-trips; the migrations of the backup's version create the tables.

/** Precedes the rows of a table: its name and its last id. */
interface Heading {
  readonly table: string;
  readonly lastId: string | null;
}

/** Rows begin with a brace. */
const HEADING = '#';

const FETCH_ROWS = 1_000;
const INSERT_BYTES = 4 * 1024 ** 2;
const quoted = pg.escapeIdentifier;

/** Files are copied between the rows of a restore and its commit. */
const connect = (url: string): Promise<pg.Client> => openLongClient(url, 'modstead backup');

/** Writes all rows of one consistent snapshot. */
export async function saveRows(url: string, path: string): Promise<void> {
  const client = await connect(url);
  const file = await open(path, 'wx', 0o600);
  try {
    await client.query('begin isolation level repeatable read read only');
    const { rows } = await client.query<{ name: string }>('select name from migrations order by name');
    await file.writeFile(`${JSON.stringify(rows.map(({ name }) => name))}\n`);
    for (const table of await tablesOf(client)) {
      const heading: Heading = { table, lastId: await lastIdOf(client, table) };
      await file.writeFile(`${HEADING}${JSON.stringify(heading)}\n`);
      for await (const lines of linesOf(client, table)) await file.writeFile(lines);
    }
  } finally {
    await file.close();
    await client.end();
  }
}

/** All permanent tables but `migrations`, which is stored separately. */
async function tablesOf(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relpersistence = 'p' and relname <> 'migrations'
     and relnamespace = current_schema()::regnamespace order by relname`,
  );
  return rows.map(({ name }) => name);
}

async function lastIdOf(client: pg.Client, table: string): Promise<string | null> {
  const sequence = await sequenceOf(client, table);
  if (!sequence) return null;
  const { rows } = await client.query<{ id: string | null }>(
    `select case when is_called then last_value end as id from ${sequence}`,
  );
  return rows[0]!.id;
}

/** The sequence behind the ids of a table. */
async function sequenceOf(client: pg.Client, table: string): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>(
    `select pg_get_serial_sequence($1, attname) as name from pg_attribute
     where attrelid = $1::regclass and attidentity <> ''`,
    [quoted(table)],
  );
  return rows[0]?.name;
}

async function* linesOf(client: pg.Client, table: string): AsyncGenerator<string> {
  await client.query(`declare lines no scroll cursor for select row_to_json(t)::text as line from ${quoted(table)} t`);
  for (;;) {
    const { rows } = await client.query<{ line: string }>(`fetch ${FETCH_ROWS} from lines`);
    if (rows.length === 0) break;
    yield rows.map(({ line }) => `${line}\n`).join('');
  }
  await client.query('close lines');
}

/** Loaded rows that are invisible until `commit`. */
export interface LoadedRows {
  commit(): Promise<void>;
  abandon(): Promise<void>;
}

/** Fills an empty database, with the tables as of the backup's version. */
export async function loadRows(url: string, path: string): Promise<LoadedRows> {
  await requireEmptyDatabase(url);
  const lines = linesIn(path);
  await makeTables(url, JSON.parse((await lines.next()).value ?? '[]'));
  const client = await connect(url);
  const abandon = async () => {
    await client.end();
    await removeTables(url);
  };
  try {
    await client.query('begin');
    const keys = await dropKeys(client);
    for (const table of await tablesOf(client)) await client.query(`delete from ${quoted(table)}`);
    await insertLines(client, lines);
    for (const key of keys) await client.query(key);
  } catch (error) {
    await abandon();
    throw error;
  }
  const commit = async () => {
    await client.query('commit');
    await client.end();
  };
  return { commit, abandon };
}

async function requireEmptyDatabase(url: string): Promise<void> {
  const client = await connect(url);
  try {
    const tables = await tablesOf(client);
    if (tables.length > 0)
      throw new Refusal(
        `The database ${new URL(url).pathname.slice(1)} is not empty; name another one, or drop it first.`,
      );
  } finally {
    await client.end();
  }
}

async function makeTables(url: string, names: string[]): Promise<void> {
  if (isUnreleased(migrations, names)) throw new Refusal(UNRELEASED);
  const known = migrations.filter(({ name }) => names.includes(name));
  if (known.length < names.length)
    throw new Refusal('The backup is of a newer version than this one; install that version, or a later one.');
  const db = await openPostgres(url);
  try {
    await migrate(db, known, () => Math.floor(Date.now() / 1000));
  } finally {
    await db.close();
  }
}

/**
 * Tables are restored by name, children perhaps before their parents. The returned statements recreate the foreign
 * keys, which checks all rows.
 */
async function dropKeys(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace order by 1, 2`,
  );
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${quoted(name)}`);
  return rows.map(({ table, name, definition }) => `alter table ${table} add constraint ${quoted(name)} ${definition}`);
}

async function insertLines(client: pg.Client, lines: AsyncIterable<string>): Promise<void> {
  let table = '';
  let held: string[] = [];
  let bytes = 0;
  const flush = async () => {
    if (held.length > 0)
      await client.query(
        `insert into ${quoted(table)} overriding system value
         select * from json_populate_recordset(null::${quoted(table)}, $1::json)`,
        [`[${held.join(',')}]`],
      );
    held = [];
    bytes = 0;
  };
  for await (const line of lines) {
    if (line.startsWith(HEADING)) {
      await flush();
      const heading = JSON.parse(line.slice(HEADING.length)) as Heading;
      table = heading.table;
      await setLastId(client, heading);
    } else {
      held.push(line);
      bytes += line.length;
      if (bytes > INSERT_BYTES) await flush();
    }
  }
  await flush();
}

async function setLastId(client: pg.Client, { table, lastId }: Heading): Promise<void> {
  const sequence = lastId === null ? undefined : await sequenceOf(client, table);
  if (sequence) await client.query('select setval($1::regclass, $2::bigint)', [sequence, lastId]);
}

/** `node:readline` would also split at line separators that texts may contain. */
async function* linesIn(path: string): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let held = '';
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 ** 2 })) {
    const lines = (held + decoder.decode(chunk as Buffer, { stream: true })).split('\n');
    held = lines.pop()!;
    yield* lines;
  }
  return undefined;
}

/** Removes everything that the restore has created. */
async function removeTables(url: string): Promise<void> {
  const client = await connect(url);
  try {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace`,
    );
    for (const { name } of rows) await client.query(`drop table ${quoted(name)} cascade`);
  } finally {
    await client.end();
  }
}
