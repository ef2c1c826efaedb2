import { type RawBuilder, sql } from 'kysely';
import { type Database, type Statement, statement } from './database.ts';

/**
 * The only mods that a caller may read: those of a server token's list or collection and the mods that they depend on, or
 * those without a price.
 */
export type ModReach =
  | { readonly kind: 'mods' | 'collection'; readonly id: number }
  | { readonly kind: 'free'; readonly id?: undefined };

/** As deep as recursive lists of dependencies. */
const DEPTH_MAX = 5;

const withDependencies = (listed: string) => `m.id in (with recursive reached (id, depth) as (
    ${listed}
    union select d.dependency_id, r.depth + 1 from mod_dependencies d join reached r on d.mod_id = r.id
      where r.depth < ${DEPTH_MAX}
  ) select id from reached)`;

const CONDITIONS: Readonly<Record<ModReach['kind'], (id: string) => string>> = {
  mods: (id) => withDependencies(`select s.mod_id, 0 from server_token_mods s where s.token_id = ${id}`),
  collection: (id) =>
    withDependencies(`select x.mod_id, 0 from collection_mods x join collections c on c.id = x.collection_id
      where c.id = ${id} and c.status <> 3`),
  free: () => 'm.price = 0',
};

/** The mod `m` is within reach. */
export const isWithinReach = ({ kind, id }: ModReach): RawBuilder<boolean> =>
  sql<boolean>`${sql.raw(CONDITIONS[kind](String(Number(id ?? 0))))}`;

const one = (kind: ModReach['kind']): Statement =>
  statement(`select m.id from mods m where m.id = ? and ${CONDITIONS[kind]('?')}`);
const ONE: Readonly<Record<ModReach['kind'], Statement>> = {
  mods: one('mods'),
  collection: one('collection'),
  free: one('free'),
};

export const reachesMod = async (
  reader: Pick<Database, 'first'>,
  { kind, id }: ModReach,
  modId: number,
): Promise<boolean> => (await reader.first(ONE[kind], id === undefined ? [modId] : [modId, id])) !== undefined;
