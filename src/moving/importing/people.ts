import type { Transaction } from '../../platform/database/database.ts';
import type { Row } from './rows.ts';

/** Accounts here that have the address of a user of the archive: the same person. */
export async function accountsByAddress({ query }: Transaction, rows: readonly Row[]): Promise<Map<Row, number>> {
  const addresses = rows.flatMap(({ email }) => (email ? [String(email)] : []));
  if (addresses.length === 0) return new Map();
  const found = await query.selectFrom('users').select(['id', 'email']).where('email', 'in', addresses).execute();
  const ids = new Map(found.map(({ id, email }) => [email, id]));
  return new Map(
    rows.flatMap((row) => (ids.has(row['email'] as string) ? [[row, ids.get(row['email'] as string)!]] : [])),
  );
}

type Named = 'users' | 'games';

/** Gives names for addresses that are taken here a number, as a new user or game gets one. */
export async function giveFreeNames({ query }: Transaction, table: Named, rows: readonly Row[]): Promise<Row[]> {
  const names = rows.map(({ name_id }) => String(name_id));
  if (names.length === 0) return [];
  const taken = await query
    .selectFrom(table)
    .select(['id', 'name_id'])
    .where((eb) => eb.or(names.map((name) => eb.or([eb('name_id', '=', name), eb('name_id', 'like', `${name}-%`)]))))
    .execute();
  const owners = new Map(taken.map(({ id, name_id }) => [name_id, id]));
  const renamed: Row[] = [];
  for (const row of rows) {
    const wanted = String(row['name_id']);
    let name = wanted;
    for (let number = 2; owners.has(name) && owners.get(name) !== row['id']; number += 1) name = `${wanted}-${number}`;
    owners.set(name, row['id'] as number);
    if (name === wanted) continue;
    row['name_id'] = name;
    renamed.push(row);
  }
  return renamed;
}
