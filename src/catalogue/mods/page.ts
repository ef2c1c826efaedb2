import { toAvatar } from '../../people/users/object.ts';
import type { App } from '../../platform/app.ts';
import { BatchedReads } from '../../platform/database/batched-reads.ts';
import { type Database, idsIn, type Statement, type Value } from '../../platform/database/database.ts';
import { FILE_LINK, livePlatformOf } from '../../platform/database/platforms.ts';
import { memoised } from '../../platform/database/totals.ts';
import { expiryAt, hashIn } from '../live-files/links.ts';
import { endOfModfile } from '../live-files/object.ts';
import { versionsOf } from './document-store.ts';
import type { Found } from './list-store.ts';
import { type LinkParts, linkParts, UNENCODED, withEncodedAddressesIn, withSignatures } from './page-addresses.ts';
import { modsOfPage, type RowOfPage } from './page-kept.ts';
import { currentStats } from './pending-stats.ts';
import { hasPending, withTexts } from './stats-store.ts';

/**
 * Mods as the JSON text of a response, assembled from stored JSON. The databases concatenate only its small parts:
 * PostgreSQL copies a text several times for each function that it passes through. It must equal `modJson`; a test
 * compares them.
 */
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

/** The SQL that differs between the databases. Parameters are numbered, because some occur several times. */
interface SqlDialect {
  /** The cards of the mods of a page. */
  readonly cards: string;
  /** Restricts cards and stats to those mods, where `cards` does not. */
  readonly wanted: string;
  /** Compares with the id of a single mod or, on PostgreSQL, with those of several such reads. */
  readonly among: string;
  /** Concatenates texts, none of which is null. */
  readonly joined: (...texts: readonly string[]) => string;
  readonly unencoded: string;
  /** The table that users are read from, and their JSON before and after the avatar. */
  readonly people: { readonly table: string; readonly before: string; readonly behind: string };
  /** The columns of a page, given the parts of a mod's JSON. */
  readonly columns: (parts: PartsOfMod, translated: boolean) => string;
}

interface PartsOfMod {
  readonly body: string;
  readonly live: Live;
  readonly end: readonly string[];
}

const SQLITE: SqlDialect = {
  people: { table: 'user_cards', before: 'u.before_avatar', behind: 'u.behind_avatar' },
  cards: 'json_each($1) j cross join mod_cards c on c.mod_id = j.value',
  wanted: '',
  among: '= cast($1 as bigint)',
  joined: (...texts) => `concat(${texts.join(', ')})`,
  unencoded: `char(${UNENCODED})`,
  // A blob saves decoding and encoding the text in this process.
  columns: ({ body, live, end }) => `c.mod_id, c.submitted_by, x'' as versions, cast(${body} as blob) as body,
    cast(${live.body} as blob) as file_body, cast(${live.link} as blob) as file_link,
    cast(concat(${end.join(', ')}) as blob) as rest`,
};

const AMONG_IDS = `= any(${idsIn('$1')})`;

const POSTGRES: SqlDialect = {
  people: {
    table: 'users',
    // Names in addresses, time zones and languages contain nothing that JSON escapes.
    before: `'{"id":' || u.id || ',"name_id":"' || u.name_id || '","username":' || cast(to_json(u.username) as text)
      || ',"display_name_portal":null,"date_online":' || u.date_online || ',"date_joined":' || u.date_joined
      || ',"avatar":'`,
    behind: `',"timezone":"' || u.timezone || '","language":"' || u.language || '","profile_url":"'`,
  },
  cards: 'mod_cards c',
  // Naming the ids for both tables makes PostgreSQL walk two indexes side by side, at half the cost of a loop of searches.
  wanted: `where c.mod_id ${AMONG_IDS} and s.mod_id ${AMONG_IDS}`,
  among: AMONG_IDS,
  joined: (...texts) => texts.join(' || '),
  unencoded: `chr(${UNENCODED})`,
  columns: (
    { body, live, end },
    translated,
  ) => `c.mod_id, c.submitted_by, ${versionsOf(translated)} as versions, ${body} as body,
    ${live.body} as file_body, ${live.link} as file_link, ${end.join(' || ')} as rest`,
};

/** The parameters of a statement, in this order. A single mod needs only the first and the language. */
const PARAMETERS = ['ids', 'platform', 'language', 'modPages', 'dependencies'] as const;
type Parameter = (typeof PARAMETERS)[number];
const parameter = (name: Parameter) => `cast($${PARAMETERS.indexOf(name) + 1} as text)`;
const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Addresses are constant while the process runs, so they are literals in the statements. */
interface Fixed {
  readonly gamePages: string;
  readonly userPages: string;
  readonly files: string;
  readonly placeholder: string;
}

const picture = ({ files }: Fixed, size: string) => [literal(files), 'u.avatar', `'/${size}.png"'`];
const avatar = ({ joined }: SqlDialect, fixed: Fixed) => {
  const original = [`'{"filename":"avatar.png","original":"'`, ...picture(fixed, 'original')];
  const small = [`',"thumb_50x50":"'`, ...picture(fixed, 'thumb_50x50')];
  const medium = [`',"thumb_100x100":"'`, ...picture(fixed, 'thumb_100x100')];
  return `case when u.avatar is null then ${literal(fixed.placeholder)}
    else ${joined(...original, ...small, ...medium, `'}'`)} end`;
};

const user = (dialect: SqlDialect, fixed: Fixed) => [
  ...[dialect.people.before, avatar(dialect, fixed), dialect.people.behind, ...marked(dialect, 'u.name_id')],
  ...[literal(fixed.userPages), 'u.name_id', `'"}'`],
];

/** Precedes an address: a mark if the name in it has to be percent-encoded (RFC 3986), which the databases cannot do. */
const marked = ({ unencoded }: SqlDialect, name: string) => [
  `case when octet_length(${name}) > length(${name}) then ${unencoded} else '' end`,
];

/** Reads the live file from the mod's card or, in a game with platforms, from the requested platform. */
interface Live {
  readonly id: string;
  readonly body: string;
  /** Equals the link that `linkedFile` writes. */
  readonly link: string;
  readonly join: (platform: string) => string;
}

const SHOWN: Live = {
  id: 'c.file_id',
  body: 'c.file_body',
  link: 'c.file_link',
  join: () => '',
};
const ON_PLATFORM: Live = {
  id: 'l.modfile_id',
  body: 'b.body',
  link: `case when b.body is not null then ${FILE_LINK} end`,
  join: (platform) => `left join mod_live_files l on l.mod_id = c.mod_id
      and l.platform = ${livePlatformOf({ mod: 'c.mod_id', game: 'c.game_id', platform })}
    left join modfile_documents b on b.modfile_id = l.modfile_id`,
};

const needs = (option: string) => `case when ${option} <> 0 and c.needs = 1 then 'true' else 'false' end`;

/** Values that a list has from its game, and that a single mod has to look up. */
interface Game {
  readonly pages: readonly string[];
  readonly dependencies: string;
}

const OF_PAGE: Game = {
  pages: [parameter('modPages')],
  dependencies: `cast(${parameter('dependencies')} as integer)`,
};
const ofRow = ({ gamePages }: Fixed): Game => ({
  pages: [literal(gamePages), 'g.name_id', `'/m/'`],
  dependencies: 'g.dependency_option',
});

const bodyIn = (translated: boolean) => (translated ? 'coalesce(t.body, c.body)' : 'c.body');

const BEFORE_STATS = ',"stats":{';
/** The JSON after the live file. */
const endIn = (dialect: SqlDialect, fixed: Fixed, { pages, dependencies }: Game) => [
  ...[`',"dependencies":'`, needs(dependencies), `',"profile_url":"'`, ...marked(dialect, 'c.name_id')],
  ...[...pages, 'c.name_id', `'"'`, `',"submitted_by":'`, ...user(dialect, fixed)],
  ...[`'${BEFORE_STATS}'`, 's.ranked', `','`, 's.counted', `'}}'`],
];

const joinedTo = (people: SqlDialect['people'], { translated, live }: Variant) => `
  join mod_stats s on s.mod_id = c.mod_id
  join ${people.table} u on u.id = c.submitted_by
  ${translated ? `left join mod_documents t on t.mod_id = c.mod_id and t.language = ${parameter('language')}` : ''}
  ${live.join(parameter('platform'))}`;

interface Variant {
  /** For languages other than English. */
  readonly translated: boolean;
  readonly live: Live;
}

function pageIn(dialect: SqlDialect, fixed: Fixed, variant: Variant): string {
  const { people, cards, wanted, columns } = dialect;
  const parts = { body: bodyIn(variant.translated), live: variant.live, end: endIn(dialect, fixed, OF_PAGE) };
  return `select ${columns(parts, variant.translated)} from ${cards} ${joinedTo(people, variant)} ${wanted}`;
}

/** Only PostgreSQL has versions of rows. */
const versionsIn = ({ people, cards, wanted }: SqlDialect, _: Fixed, variant: Variant): string =>
  `select string_agg(c.mod_id || ' ' || ${versionsOf(variant.translated)}, ',') as versions
    from ${cards} ${joinedTo(people, variant)} ${wanted}`;

function singleIn(dialect: SqlDialect, fixed: Fixed, variant: Variant): string {
  const { translated, live } = variant;
  return `select c.mod_id as id, c.game_id, c.status, c.visible, c.submitted_by, g.status as game_status, g.api_access_options,
      ${bodyIn(translated)} as body, ${live.id} as file_id, ${live.link} as file_link, ${live.body} as file_body,
      ${dialect.joined(...endIn(dialect, fixed, ofRow(fixed)))} as rest, ${hasPending('c.mod_id')} as pending
    from mod_cards c join games g on g.id = c.game_id
      ${joinedTo(dialect.people, variant)}
    where c.mod_id ${dialect.among}`;
}

/** A statement, and which of the values it takes: databases refuse values for parameters that a variant lacks. */
interface Prepared {
  readonly statement: Statement;
  readonly valuesOf: (dialect: Database['dialect'], values: readonly Value[]) => Value[];
}
type Variants = Record<'english' | 'translated', Record<'shown' | 'onPlatform', Prepared>>;

function variantsOf(
  sql: (dialect: SqlDialect, fixed: Fixed, variant: Variant) => string,
  fixed: Fixed,
  inBytes?: true,
): Variants {
  const of = (variant: Variant): Prepared => {
    const [sqlite, postgres] = [sql(SQLITE, fixed, variant), sql(POSTGRES, fixed, variant)];
    const usedIn = (text: string) =>
      PARAMETERS.map((_, i) => i + 1).filter((number) => new RegExp(`\\$${number}\\b`).test(text));
    const used = { sqlite: usedIn(sqlite), postgres: usedIn(postgres) };
    const numbered = (text: string, numbers: readonly number[], mark: string) =>
      text.replace(/\$(\d+)/g, (_, number) => `${mark}${numbers.indexOf(Number(number)) + 1}`);
    return {
      statement: {
        text: numbered(sqlite, used.sqlite, '?'),
        postgres: numbered(postgres, used.postgres, '$'),
        ...(inBytes && { inBytes }),
      },
      valuesOf: (dialect, values) => used[dialect].map((number) => values[number - 1]!),
    };
  };
  const inLanguage = (translated: boolean) => ({
    shown: of({ translated, live: SHOWN }),
    onPlatform: of({ translated, live: ON_PLATFORM }),
  });
  return { english: inLanguage(false), translated: inLanguage(true) };
}

const variantFor = (variants: Variants, language: string, platform: string): Prepared =>
  variants[language === 'en' ? 'english' : 'translated'][platform === '' ? 'shown' : 'onPlatform'];

const statements = new WeakMap<App['addresses'], Record<'page' | 'versions' | 'single', Variants>>();

function statementsOf(app: App) {
  const known = statements.get(app.addresses);
  if (known) return known;
  const { addresses } = app;
  const fixed: Fixed = {
    gamePages: addresses.game(''),
    userPages: addresses.user(''),
    files: addresses.file(''),
    placeholder: JSON.stringify(toAvatar(app, null)),
  };
  const made = {
    page: variantsOf(pageIn, fixed, true),
    versions: variantsOf(versionsIn, fixed),
    single: variantsOf(singleIn, fixed),
  };
  statements.set(addresses, made);
  return made;
}

/** A single mod with the columns that permission checks need. */
export interface SingleMod {
  readonly id: number;
  readonly game_id: number;
  readonly status: number;
  readonly visible: number;
  readonly submitted_by: number;
  readonly game_status: number;
  readonly api_access_options: number;
  readonly body: string;
  readonly file_id: number | null;
  readonly file_link: string | null;
  readonly file_body: string | null;
  /** The JSON after the live file. */
  readonly rest: string;
  /** 1 if its stats lack recent counts. */
  readonly pending: number;
}

export async function pageOfMods(app: App, request: PageRequest): Promise<Buffer> {
  const { gameId, language } = request;
  const game = await gameOfMods(app, gameId);
  const platform = game.has_platforms ? (request.platform ?? '') : '';
  const expires = expiryAt(app.clock.now());
  const link = linkParts(app, gameId, expires);
  const prepared = variantFor(statementsOf(app).page, language, platform);
  const bytes = await assembled(app, { ...request, platform, game, link, prepared });
  return withSignatures(app, bytes, expires);
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

async function assembled(app: App, page: PreparedPage): Promise<Buffer> {
  const { gameId, ids, language, platform, prepared, link, game } = page;
  const { db } = app;
  const valuesIn = (some: readonly number[]) => valuesFor(app, { ...page, ids: some });
  const ofLanguage = variantFor(statementsOf(app).versions, language, platform);
  const inLanguage = { statement: ofLanguage.statement, values: ofLanguage.valuesOf('postgres', valuesIn(ids)) };
  const versions = (language === 'en' ? page.versions : undefined) ?? inLanguage;
  const { parts, count } = await modsOfPage(app, {
    ...{ gameId, ids, link, variant: `${language}/${platform}` },
    surroundings: `${app.addresses.mod(game.name_id, '')} ${link.before} ${game.dependency_option}`,
    // The file of a platform has more rows, whose versions are not compared.
    versions: platform === '' ? versions : undefined,
    rowsOf: (some) => db.all<RowOfPage>(prepared.statement, prepared.valuesOf(db.dialect, valuesIn(some))),
  });
  return Buffer.concat([Buffer.from(BEGIN), ...parts, Buffer.from(endOf(page, count))]);
}

const BEGIN = '{"data":[';
const endOf = ({ offset, limit, total }: PageRequestOf, count: number) =>
  `],"result_count":${count},"result_offset":${offset},"result_limit":${limit},"result_total":${total}}`;
type PageRequestOf = Pick<PageRequest, 'offset' | 'limit' | 'total'>;

/** A single mod in any state; the caller of this function checks its visibility. */
export function singleMod(app: App, id: number, language: string, platform = '') {
  const found = storedMod(app, id, language, platform);
  if (found instanceof Promise) return found.then((mod) => (mod?.pending ? withPendingStats(app, id, mod) : mod));
  return found?.pending ? withPendingStats(app, id, found) : found;
}

const singleMods = new BatchedReads<SingleMod>();

function storedMod(app: App, id: number, language: string, platform: string) {
  const { statement, valuesOf } = variantFor(statementsOf(app).single, language, platform);
  const { db } = app;
  if (db.dialect === 'sqlite') return db.first<SingleMod>(statement, valuesOf('sqlite', [id, platform, language]));
  const valuesFor = (ids: readonly number[]) => valuesOf('postgres', [JSON.stringify(ids), platform, language]);
  return singleMods.read(db, id, { variant: `${language}/${platform}`, statement, valuesFor });
}

async function withPendingStats(app: App, id: number, mod: SingleMod): Promise<SingleMod> {
  const stats = await currentStats(app.db, id);
  if (!stats) return mod;
  const { ranked, counted } = withTexts(stats);
  const end = mod.rest.lastIndexOf(BEFORE_STATS) + BEFORE_STATS.length;
  return { ...mod, rest: `${mod.rest.slice(0, end)}${ranked},${counted}}}` };
}

/** Measures the parts separately, because measuring the concatenated string would flatten it first. */
export function singleModJson(app: App, id: number, mod: SingleMod): { text: string; bytes: number } {
  const rest = withEncodedAddressesIn(mod.rest);
  const parts = [mod.body, ',"modfile":', mod.file_body ?? '{}', endOfLiveFile(app, id, mod), rest] as const;
  let bytes = 0;
  for (const part of parts) bytes += Buffer.byteLength(part);
  return { text: parts.join(''), bytes };
}

function endOfLiveFile(app: App, modId: number, mod: SingleMod): string {
  const { game_id, file_id: id, file_link: link } = mod;
  if (id === null || link === null) return '';
  const file = { id, mod_id: modId, game_id, sha256: hashIn(link) };
  return endOfModfile(app, file, { alone: true });
}
