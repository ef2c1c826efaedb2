import { operations } from '../src/composition/resources.ts';
import type { Query } from '../src/platform/database/database.ts';
import type { AnyOperation } from '../src/platform/http/operation.ts';
import type { Client } from './api.ts';

type Params = Readonly<Record<string, number | string>>;

/** Reads that anyone with an API key may make. */
export const PUBLIC_READS: readonly AnyOperation[] = operations.filter(
  ({ declaration: { method, access } }) => method === 'GET' && (access.kind === 'reader' || access.kind === 'anyone'),
);

/** Parameters of paths whose values are no rows of the archive. */
const NOT_CRAWLED = /\{(?!game_id|mod_id|file_id|guide_id|collection_id|comment_id|user_id|agreement)/;

const idsOf = async (rows: Promise<{ id: number }[]>) => (await rows).map(({ id }) => id);

/** Every combination of ids that the path of an operation can have. */
async function paramsOf(query: Query, path: string): Promise<Params[]> {
  if (!path.includes('{')) return [{}];
  if (path.includes('{agreement_type_id}')) return [1, 2, 3].map((id) => ({ agreement_type_id: id }));
  if (path.includes('{agreement_version_id}')) {
    const versions = await idsOf(query.selectFrom('agreement_versions').select('id').execute());
    return versions.map((id) => ({ agreement_version_id: id }));
  }
  const users = path.includes('{user_id}') ? await idsOf(query.selectFrom('users').select('id').execute()) : [0];
  const games = path.includes('{game_id}') ? await idsOf(query.selectFrom('games').select('id').execute()) : [0];
  const found: Params[] = [];
  for (const user_id of users)
    for (const game_id of games)
      for (const more of await belowGame(query, path, game_id)) found.push({ user_id, game_id, ...more });
  return found;
}

async function belowGame(query: Query, path: string, gameId: number): Promise<Params[]> {
  const of = (table: 'mods' | 'guides' | 'collections') =>
    idsOf(query.selectFrom(table).select('id').where('game_id', '=', gameId).orderBy('id').execute());
  if (path.includes('{file_id}')) {
    const files = query.selectFrom('modfiles').select(['id', 'mod_id']).where('game_id', '=', gameId).orderBy('id');
    return (await files.execute()).map(({ id, mod_id }) => ({ file_id: id, mod_id }));
  }
  const [name, table] = path.includes('{mod_id}')
    ? (['mod_id', 'mods'] as const)
    : path.includes('{guide_id}')
      ? (['guide_id', 'guides'] as const)
      : path.includes('{collection_id}')
        ? (['collection_id', 'collections'] as const)
        : [];
  if (!name) return [{}];
  if (!path.includes('{comment_id}')) return (await of(table)).map((id) => ({ [name]: id }));
  const comments = query
    .selectFrom('comments')
    .select(['id', 'resource_id'])
    .where('resource', '=', table)
    .where('game_id', '=', gameId);
  return (await comments.orderBy('id').execute()).map(({ id, resource_id }) => ({
    comment_id: id,
    [name]: resource_id,
  }));
}

const PAGE = 100;

/**
 * Passes the target of every public read to `visit`: items, and lists page by page until an empty one. With `modsEvery`
 * only what is below each mod with such an id.
 */
export async function crawl(
  query: Query,
  visit: (target: string) => Promise<{ status: number; text: string }>,
  modsEvery = 1,
): Promise<number> {
  let visited = 0;
  for (const { declaration } of PUBLIC_READS) {
    if (NOT_CRAWLED.test(declaration.path)) continue;
    for (const params of await paramsOf(query, declaration.path)) {
      if (Number(params['mod_id'] ?? 0) % modsEvery !== 0) continue;
      const path = declaration.path.replace(/\{(\w+)\}/g, (_: string, name: string) => String(params[name]));
      for (let offset = 0; ; offset += PAGE) {
        const page = declaration.list ? `?_limit=${PAGE}&_offset=${offset}` : '';
        const { status, text } = await visit(`${path}${page}`);
        visited += 1;
        if (!declaration.list || status !== 200 || offset + PAGE >= (JSON.parse(text).result_total ?? 0)) break;
      }
    }
  }
  return visited;
}

/** Links are signed with a secret of the service and expire. */
export const withoutSignatures = (text: string) =>
  text
    .replace(/"date_expires":\d+/g, '"date_expires":0')
    .replace(/(?<=verification_hash=)[\w-]+|(?<=\/download\/)[^"]*/g, '')
    .replace(/https:\\?\/\\?\/[\w.:-]+/g, '');

export const readerOf = (client: Client) => async (target: string) => {
  const [path, query = ''] = target.split('?');
  const { status, text } = await client.send('GET', path!, { query: Object.fromEntries(new URLSearchParams(query)) });
  return { status, text: withoutSignatures(text) };
};
