import type { App } from '../src/platform/app.ts';
import { insertMany } from '../src/platform/database/bulk.ts';

const FIRST_ID = 5_000_000;

const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

/** Inserts more users than a test could create through the API, and returns their ids. */
export async function manyUsers({ db }: Pick<App, 'db'>, count: number, first = FIRST_ID): Promise<number[]> {
  const ids = idsFrom(first, count);
  const users = ids.map((id) => ({
    id,
    status: 1,
    name_id: `many-${id}`,
    username: `Many ${id}`,
    email: null,
    admin: 0,
    date_joined: 1,
    date_online: 1,
    avatar: null,
    timezone: '',
    language: 'en',
    country: '',
    privacy_options: 0,
    monetization_status: 0,
  }));
  await db.write((transaction) => insertMany({ transaction, dialect: db.dialect }, 'users', users));
  return ids;
}

/** Inserts copies of this mod's row with other names, without rows in other tables, and returns their ids. */
export async function manyMods(
  { db }: Pick<App, 'db'>,
  like: { id: number },
  count: number,
  first = FIRST_ID,
): Promise<number[]> {
  const pattern = await db.query.selectFrom('mods').selectAll().where('id', '=', like.id).executeTakeFirstOrThrow();
  const ids = idsFrom(first, count);
  const mods = ids.map((id) => ({ ...pattern, id, name_id: `many-${id}` }));
  await db.write((transaction) => insertMany({ transaction, dialect: db.dialect }, 'mods', mods));
  return ids;
}
