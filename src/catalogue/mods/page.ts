import type { App } from '../../platform/app.ts';
import type { Statement, Value } from '../../platform/database/database.ts';
import { memoised } from '../../platform/database/totals.ts';
import { BEFORE_ITEMS, behindItems, checksumOf } from '../../platform/text/assembled-json.ts';
import { expiryAt } from '../live-files/links.ts';
import type { Found } from './list-store.ts';
import { type LinkParts, linkParts, withSignatures } from './page-addresses.ts';
import { modsOfPage, type RowOfPage } from './page-kept.ts';
import { type Prepared, statementsOf, variantFor } from './page-statements.ts';

export interface PageRequest extends Found {
  readonly gameId: number;
  readonly language: string;
  readonly platform: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

interface GameOfPage {
  readonly name_id: string;
  readonly dependency_option: number;
  readonly has_platforms: number;
}

const GAME: Statement = {
  text: `select name_id, dependency_option, exists (select 1 from game_platforms o where o.game_id = g.id) as has_platforms
    from games g where id = ?`,
  postgres: `select name_id, dependency_option,
      case when exists (select 1 from game_platforms o where o.game_id = g.id) then 1 else 0 end as has_platforms
    from games g where id = $1`,
};

/** A page of mods as the JSON text of a response. */
export interface AssembledPage {
  readonly text: Buffer;
  /** Differs if the text does. */
  readonly checksum: number;
}

export async function pageOfMods(app: App, request: PageRequest): Promise<AssembledPage> {
  const { gameId, language } = request;
  const game = await gameOfMods(app, gameId);
  const platform = game.has_platforms ? (request.platform ?? '') : '';
  const expires = expiryAt(app.clock.now());
  const link = linkParts(app, gameId, expires);
  const prepared = variantFor(statementsOf(app).page, language, platform);
  const { text, checksum } = await assembled(app, { ...request, platform, game, link, prepared });
  return { text: withSignatures(app, text, expires), checksum };
}

interface PreparedPage extends Omit<PageRequest, 'platform'> {
  readonly platform: string;
  readonly game: GameOfPage;
  readonly link: LinkParts;
  readonly prepared: Prepared;
}

/** What lists and look-ups of mods need to know of their game. */
export const gameOfMods = (app: App, gameId: number): Promise<GameOfPage> =>
  memoised(app.db.changes, {
    scope: `games/${gameId}`,
    asked: 'page of mods',
    find: async () => (await app.db.first<GameOfPage>(GAME, [gameId]))!,
  });

const valuesFor = (app: App, { ids, platform, language, game }: PreparedPage): Value[] => [
  ...[JSON.stringify(ids), platform, language],
  ...[app.addresses.mod(game.name_id, ''), String(game.dependency_option)],
];

async function assembled(app: App, page: PreparedPage): Promise<AssembledPage> {
  const { gameId, ids, language, platform, prepared, link, game } = page;
  const { db } = app;
  const valuesIn = (some: readonly number[]) => valuesFor(app, { ...page, ids: some });
  const versions = variantFor(statementsOf(app).versions, language, platform);
  const { parts, count, checksums } = await modsOfPage(app, {
    ...{ gameId, ids, link, variant: `${language}/${platform}` },
    surroundings: `${app.addresses.mod(game.name_id, '')} ${link.before} ${game.dependency_option}`,
    // The file of a platform has more rows, whose versions are not compared.
    versions:
      platform === ''
        ? (some) => ({ statement: versions.statement, values: versions.valuesOf('postgres', valuesIn(some)) })
        : undefined,
    rowsOf: (some) => db.all<RowOfPage>(prepared.statement, prepared.valuesOf(db.dialect, valuesIn(some))),
  });
  const end = behindItems(count, page);
  return {
    text: Buffer.concat([BEGIN, ...parts, Buffer.from(end)]),
    checksum: checksumOf(checksums, link.behind + end),
  };
}

const BEGIN = Buffer.from(BEFORE_ITEMS);
