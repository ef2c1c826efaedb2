import { sql } from 'kysely';
import type { Database, Query } from '../../platform/database/database.ts';

export interface Column {
  readonly name: string;
  readonly type: 'integer' | 'number' | 'text';
  readonly isNullable: boolean;
  /** The default of the database, if it has one. */
  readonly value: string | number | undefined;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** In the order of the key. */
  readonly primaryKey: readonly string[];
  /** Ids that the database assigns. */
  readonly hasId: boolean;
  /** The tables that its columns reference with a foreign key. */
  readonly keys: ReadonlyMap<string, string>;
}

export type Schema = ReadonlyMap<string, Table>;

interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly required: number;
  readonly value: string | null;
  readonly place: number;
}

const SQLITE_COLUMNS = sql<ColumnRow>`select t.name as "table", c.name, lower(c.type) as type,
    c."notnull" as required, c.dflt_value as value, c.pk as place
  from sqlite_master t join pragma_table_info(t.name) c
  where t.type = 'table' and t.name not like 'sqlite%' order by t.name, c.cid`;

const POSTGRES_COLUMNS = sql<ColumnRow>`select c.relname as "table", a.attname as name,
    format_type(a.atttypid, null) as type, case when a.attnotnull then 1 else 0 end as required,
    case when a.attidentity <> '' then null else pg_get_expr(d.adbin, d.adrelid) end as value,
    coalesce((select array_position(i.indkey::int2[], a.attnum) from pg_index i
      where i.indrelid = c.oid and i.indisprimary), 0) + case when exists (select 1 from pg_index i
      where i.indrelid = c.oid and i.indisprimary and a.attnum = any (i.indkey::int2[])) then 1 else 0 end as place
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where c.relkind = 'r' and c.relpersistence = 'p' and c.relnamespace = current_schema()::regnamespace
  order by c.relname, a.attnum`;

interface KeyRow {
  readonly table: string;
  readonly column: string;
  readonly parent: string;
}

const SQLITE_KEYS = sql<KeyRow>`select t.name as "table", k."from" as "column", k."table" as parent
  from sqlite_master t join pragma_foreign_key_list(t.name) k where t.type = 'table'`;
const POSTGRES_KEYS = sql<KeyRow>`select c.relname as "table", a.attname as "column", p.relname as parent
  from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class p on p.oid = k.confrelid
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
  where k.contype = 'f' and k.connamespace = current_schema()::regnamespace`;

/** The tables as the database has them. */
export async function schemaOf({ dialect, query }: Pick<Database, 'dialect' | 'query'>): Promise<Schema> {
  const columns = await rowsOf(query, dialect === 'sqlite' ? SQLITE_COLUMNS : POSTGRES_COLUMNS);
  const keys = await rowsOf(query, dialect === 'sqlite' ? SQLITE_KEYS : POSTGRES_KEYS);
  const tables = Map.groupBy(columns, ({ table }) => table);
  return new Map(
    [...tables].map(([name, rows]) => [
      name,
      {
        name,
        columns: rows.map((row) => columnOf(row)),
        primaryKey: rows
          .filter(({ place }) => Number(place) > 0)
          .sort((one, other) => Number(one.place) - Number(other.place))
          .map((row) => row.name),
        hasId: rows.some((row) => row.name === 'id' && Number(row.place) > 0) && !FIXED_IDS.includes(name),
        keys: new Map(keys.filter(({ table }) => table === name).map(({ column, parent }) => [column, parent])),
      },
    ]),
  );
}

/** Tables whose ids the program assigns. */
const FIXED_IDS = ['audit_log', 'audit_head', 'user_cards'];

const rowsOf = async <T>(query: Query, read: { execute(query: Query): Promise<{ rows: T[] }> }): Promise<T[]> =>
  (await read.execute(query)).rows;

function columnOf({ name, type, required, value, place }: ColumnRow): Column {
  return {
    name,
    type: type === 'text' ? 'text' : type === 'real' || type === 'double precision' ? 'number' : 'integer',
    isNullable: Number(required) === 0 && Number(place) === 0,
    value: value === null ? undefined : literalOf(value),
  };
}

/** `0`, `''` or, on PostgreSQL, `''::text`. */
function literalOf(text: string): string | number {
  const [, quoted] = /^'((?:[^']|'')*)'/.exec(text) ?? [];
  return quoted === undefined ? Number(text.replace(/::.*$/, '')) : quoted.replaceAll("''", "'");
}
