import type { App } from '../app.ts';
import type { Query } from '../database/database.ts';
import { ApiError } from '../errors/catalogue.ts';
import { isReservedForContent } from '../filters/reserved-names.ts';
import { freeSlug } from './slug.ts';

/** Resources whose name in the address is unique per game. */
type Named = 'mods' | 'guides' | 'collections';

/** Refuses a name that is reserved or that another row than `exceptId` has. */
export async function requireFreeNameId(
  { settings }: Pick<App, 'settings'>,
  query: Query,
  table: Named,
  gameId: number,
  nameId: string,
  exceptId: number,
): Promise<void> {
  if (isReservedForContent(nameId, settings.domain))
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'name_id', rule: 'reserved' }] });
  const taken = query.selectFrom(table).select('id').where('game_id', '=', gameId).where('name_id', '=', nameId);
  if (await taken.where('id', '<>', exceptId).executeTakeFirst())
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'name_id', rule: 'taken' }] });
}

const ALIKE_MAX = 100;

/** A free name for the address, made from the display name. */
export async function freeNameId(
  { random, settings }: Pick<App, 'random' | 'settings'>,
  query: Query,
  table: Named,
  gameId: number,
  { name, fallback }: { readonly name: string; readonly fallback: string },
): Promise<string> {
  const stem = freeSlug(name, fallback, []);
  const taken = await nameIdsLike(query, table, gameId, stem);
  // If many rows have this name, counting upwards would take longer with each.
  if (taken.length >= ALIKE_MAX) return `${stem}-${random.hex(12)}`;
  return freeSlug(name, fallback, taken, (nameId) => isReservedForContent(nameId, settings.domain));
}

/** Finds the stem and names that continue it with a hyphen: in a `name_id` no character sorts before the hyphen. */
async function nameIdsLike(query: Query, table: Named, gameId: number, stem: string): Promise<string[]> {
  const rows = await query
    .selectFrom(table)
    .select('name_id')
    .where('game_id', '=', gameId)
    .where('name_id', '>=', stem)
    .where('name_id', '<', `${stem}-\u{10ffff}`)
    .limit(ALIKE_MAX)
    .execute();
  return rows.map((row) => row.name_id);
}
