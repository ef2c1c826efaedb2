import { isAscii } from 'node:buffer';
import { toAvatar } from '../../people/users/object.ts';
import type { App } from '../../platform/app.ts';
import type { Statement, Value } from '../../platform/database/database.ts';
import { livePlatformOf } from '../../platform/database/platforms.ts';
import { BEFORE_HASH, expiryAt, HASH_DIGITS, type SignedFile, signerUntil } from '../live-files/links.ts';
import { endOfModfile } from '../live-files/object.ts';
import { cardsAmong, FILE_LINK } from './document-store.ts';
import { withPending } from './pending-stats.ts';
import { hasPending, statsOf, withTexts } from './stats-store.ts';

/**
 * Mods as the JSON text of a response. The database assembles it from stored JSON, because fetching each column of each
 * mod costs far more than the page itself. It must equal `modJson`; a test compares them.
 */
export interface PageRequest {
  readonly gameId: number;
  readonly ids: readonly number[];
  readonly language: string;
  readonly platform: string | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
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
  readonly ids: string;
  /** The table that users are read from, and their JSON before and after the avatar. */
  readonly people: { readonly table: string; readonly before: string; readonly behind: string };
  /** The join keyword that keeps the written order, so that mods come in the order of the ids. */
  readonly join: string;
  /** Aggregates the parts of each mod to a page. */
  readonly page: (...parts: readonly string[]) => string;
}

const SQLITE: SqlDialect = {
  people: { table: 'user_cards', before: 'u.before_avatar', behind: 'u.behind_avatar' },
  ids: 'json_each($1) j cross join mod_cards c on c.mod_id = j.value',
  join: 'cross join',
  // The first and the last mod add the envelope, because wrapping the aggregate would copy it once more. A blob saves
  // decoding and encoding the text in this process.
  page: (...parts) => `cast(group_concat(concat(case when j.key = 0 then ${parameter('begin')} end, ${parts.join(', ')},
    case when j.key = cast(${parameter('last')} as integer) then ${parameter('end')} end), ',') as blob)`,
};

const POSTGRES: SqlDialect = {
  people: {
    table: 'users',
    // Names in addresses, time zones and languages contain nothing that JSON escapes.
    before: `concat('{"id":', u.id, ',"name_id":"', u.name_id, '","username":', to_json(u.username),
      ',"display_name_portal":null,"date_online":', u.date_online, ',"date_joined":', u.date_joined, ',"avatar":')`,
    behind: `concat(',"timezone":"', u.timezone, '","language":"', u.language, '","profile_url":"')`,
  },
  ids: `json_array_elements_text(cast($1 as json)) with ordinality as j (value, place)
    join mod_cards c on c.mod_id = cast(j.value as bigint)`,
  join: 'join',
  page: (...parts) => `concat(${parameter('begin')}, string_agg(concat(${parts.join(', ')}), ',' order by j.place),
    case when cast(${parameter('last')} as integer) >= 0 then ${parameter('end')} end)`,
};

/** A signature's placeholder is the string to sign, followed by a character that JSON never contains. */
const GAP_SIGN = 1;
const SEGMENT_LENGTH = '1234567890-'.length + 43;
const GAP = String.fromCharCode(GAP_SIGN).repeat(SEGMENT_LENGTH - HASH_DIGITS);

/** The parameters of a statement, in this order. A single mod needs only the first and the language. */
const PARAMETERS = [
  ...(['ids', 'platform', 'language', 'modPages', 'beforeLink', 'behindLink', 'dependencies'] as const),
  ...(['begin', 'last', 'end'] as const),
];
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

const picture = ({ files }: Fixed, size: string) => `${literal(files)}, u.avatar, '/${size}.png"'`;
const avatar = (fixed: Fixed) => `case when u.avatar is null then ${literal(fixed.placeholder)}
  else concat('{"filename":"avatar.png","original":"', ${picture(fixed, 'original')},
    ',"thumb_50x50":"', ${picture(fixed, 'thumb_50x50')},
    ',"thumb_100x100":"', ${picture(fixed, 'thumb_100x100')}, '}') end`;

const user = ({ before, behind }: SqlDialect['people'], fixed: Fixed) =>
  `${before}, ${avatar(fixed)}, ${behind}, ${literal(fixed.userPages)}, u.name_id, '"}'`;

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

const modfile = ({ body, link }: Live) => {
  const ifThere = (text: string) => `case when ${body} is not null then ${text} end`;
  return `coalesce(${body}, '{}'), ${ifThere(parameter('beforeLink'))}, ${link}, ${ifThere(parameter('behindLink'))}`;
};

const needs = (option: string) => `case when ${option} <> 0 and c.needs = 1 then 'true' else 'false' end`;

/** Values that a list has from its game, and that a single mod has to look up. */
interface Game {
  readonly pages: string;
  readonly dependencies: string;
}

const OF_PAGE: Game = {
  pages: parameter('modPages'),
  dependencies: `cast(${parameter('dependencies')} as integer)`,
};
const ofRow = ({ gamePages }: Fixed): Game => ({
  pages: `${literal(gamePages)}, g.name_id, '/m/'`,
  dependencies: 'g.dependency_option',
});

const bodyIn = (translated: boolean) => (translated ? 'coalesce(t.body, c.body)' : 'c.body');

const BEFORE_STATS = ',"stats":{';
/** The JSON after the live file. */
const endIn = (people: SqlDialect['people'], fixed: Fixed, { pages, dependencies }: Game) =>
  `',"dependencies":', ${needs(dependencies)}, ',"profile_url":"', ${pages}, c.name_id, '"',
    ',"submitted_by":', ${user(people, fixed)}, '${BEFORE_STATS}', s.ranked, ',', s.counted, '}}'`;

const joinedTo = (join: string, people: SqlDialect['people'], { translated, live }: Variant) => `
  ${join} mod_stats s on s.mod_id = c.mod_id
  ${join} ${people.table} u on u.id = c.submitted_by
  ${translated ? `left join mod_documents t on t.mod_id = c.mod_id and t.language = ${parameter('language')}` : ''}
  ${live.join(parameter('platform'))}`;

interface Variant {
  /** For languages other than English. */
  readonly translated: boolean;
  readonly live: Live;
}

function pageIn({ people, ids, join, page }: SqlDialect, fixed: Fixed, variant: Variant): string {
  const { translated, live } = variant;
  const parts = [bodyIn(translated), `',"modfile":'`, modfile(live), endIn(people, fixed, OF_PAGE)];
  return `select ${page(...parts)} as text, count(*) as mods
    from ${ids} ${joinedTo(join, people, variant)}`;
}

function singleIn({ people }: SqlDialect, fixed: Fixed, variant: Variant): string {
  const game = ofRow(fixed);
  const { translated, live } = variant;
  return `select c.game_id, c.status, c.visible, c.submitted_by, g.status as game_status, g.api_access_options,
      ${bodyIn(translated)} as body, ${live.id} as file_id, ${live.link} as file_link, ${live.body} as file_body,
      concat(${endIn(people, fixed, game)}) as rest, ${hasPending('c.mod_id')} as pending
    from mod_cards c join games g on g.id = c.game_id
      ${joinedTo('join', people, variant)}
    where c.mod_id = cast($1 as bigint)`;
}

/** A statement, and which of the values it takes: databases refuse values for parameters that a variant lacks. */
interface Prepared {
  readonly statement: Statement;
  readonly valuesOf: (values: readonly Value[]) => Value[];
}
type Variants = Record<'english' | 'translated', Record<'shown' | 'onPlatform', Prepared>>;

function variantsOf(sql: (dialect: SqlDialect, fixed: Fixed, variant: Variant) => string, fixed: Fixed): Variants {
  const of = (variant: Variant): Prepared => {
    const [sqlite, postgres] = [sql(SQLITE, fixed, variant), sql(POSTGRES, fixed, variant)];
    const used = PARAMETERS.map((_, i) => i + 1).filter((number) => new RegExp(`\\$${number}\\b`).test(postgres));
    const numbered = (text: string, mark: string) =>
      text.replace(/\$(\d+)/g, (_, number) => `${mark}${used.indexOf(Number(number)) + 1}`);
    return {
      statement: { text: numbered(sqlite, '?'), postgres: numbered(postgres, '$') },
      valuesOf: (values) => used.map((number) => values[number - 1]!),
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

const statements = new WeakMap<App['addresses'], { readonly page: Variants; readonly single: Variants }>();

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
  const made = { page: variantsOf(pageIn, fixed), single: variantsOf(singleIn, fixed) };
  statements.set(addresses, made);
  return made;
}

interface Page {
  readonly text: Uint8Array | string;
  readonly mods: number;
}

/** A single mod with the columns that permission checks need. */
export interface SingleMod {
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
  const { gameId, ids, language, limit, offset, total } = request;
  const game = (await app.db.first<GameOfPage>(GAME, [gameId]))!;
  const platform = game.has_platforms ? (request.platform ?? '') : '';
  const expires = expiryAt(app.clock.now());
  const values = [
    JSON.stringify(ids),
    platform,
    language,
    app.addresses.mod(game.name_id, ''),
    `,"download":{"binary_url":"${app.addresses.gameApi(gameId)}/games/${gameId}/mods/`,
    `${GAP}","date_expires":${expires}}}`,
    String(game.dependency_option),
    BEGIN,
    String(ids.length - 1),
    `],"result_count":${ids.length},"result_offset":${offset},"result_limit":${limit},"result_total":${total}}`,
  ];
  if (ids.length === 0) return Buffer.from(`${BEGIN}${values.at(-1)}`);
  const { statement, valuesOf } = variantFor(statementsOf(app).page, language, platform);
  const { text, mods } = (await app.db.first<Page>(statement, valuesOf(values)))!;
  // One of the mods was removed after its id was found.
  if (Number(mods) < ids.length) return pageOfMods(app, { ...request, ids: await cardsAmong(app.db.query, ids) });
  const bytes =
    typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  signLinks(app, bytes, expires);
  return isAscii(bytes) ? bytes : Buffer.from(withEncodedAddresses(bytes.toString()));
}

const PROFILE_URL = /"profile_url":"[^"]*[^\p{ASCII}"][^"]*"/gu;

/** The database inserts names into addresses unchanged; addresses must be percent-encoded (RFC 3986). */
const withEncodedAddresses = (json: string): string => json.replace(PROFILE_URL, encodeURIOf);
const encodeURIOf = (field: string): string => {
  const start = '"profile_url":"'.length;
  return `${field.slice(0, start)}${encodeURI(field.slice(start, -1)).replaceAll('%25', '%')}"`;
};

const BEGIN = '{"data":[';

/** Replaces each placeholder with its signature. */
function signLinks(app: App, page: Buffer, expires: number): void {
  const segmentFor = signerUntil(app, expires);
  for (let gap = page.indexOf(GAP_SIGN); gap !== -1; gap = page.indexOf(GAP_SIGN, gap)) {
    const mark = gap - HASH_DIGITS;
    const behindId = mark - BEFORE_HASH.length;
    const file = () => `${idBefore(page, behindId)}${page.toString('latin1', behindId, gap)}` as SignedFile;
    const segment = segmentFor(idBefore(page, behindId), file);
    page.set(segment, mark);
    gap = mark + segment.length;
  }
}

const [ZERO, NINE] = [0x30, 0x39];

/** Parses the number whose digits end before this position, without creating a string for it. */
function idBefore(page: Buffer, end: number): number {
  let [id, power] = [0, 1];
  for (let at = end - 1; page[at]! >= ZERO && page[at]! <= NINE; at -= 1) {
    id += (page[at]! - ZERO) * power;
    power *= 10;
  }
  return id;
}

/** A single mod in any state; the caller of this function checks its visibility. */
export function singleMod(app: App, id: number, language: string, platform = '') {
  const found = storedMod(app, id, language, platform);
  if (found instanceof Promise) return found.then((mod) => (mod?.pending ? withPendingStats(app, id, mod) : mod));
  return found?.pending ? withPendingStats(app, id, found) : found;
}

function storedMod(app: App, id: number, language: string, platform: string) {
  const { statement, valuesOf } = variantFor(statementsOf(app).single, language, platform);
  return app.db.first<SingleMod>(statement, valuesOf([id, platform, language]));
}

async function withPendingStats(app: App, id: number, mod: SingleMod): Promise<SingleMod> {
  const stored = await statsOf(app.db, id);
  if (!stored) return mod;
  const { ranked, counted } = withTexts(await withPending(app.db, id, stored));
  const end = mod.rest.lastIndexOf(BEFORE_STATS) + BEFORE_STATS.length;
  return { ...mod, rest: `${mod.rest.slice(0, end)}${ranked},${counted}}}` };
}

/** Measures the parts separately, because measuring the concatenated string would flatten it first. */
export function singleModJson(app: App, id: number, mod: SingleMod): { text: string; bytes: number } {
  const rest = withEncodedAddresses(mod.rest);
  const parts = [mod.body, ',"modfile":', mod.file_body ?? '{}', endOfLiveFile(app, id, mod), rest] as const;
  let bytes = 0;
  for (const part of parts) bytes += Buffer.byteLength(part);
  return { text: parts.join(''), bytes };
}

function endOfLiveFile(app: App, modId: number, mod: SingleMod): string {
  const { game_id, file_id: id, file_link: link } = mod;
  if (id === null || link === null) return '';
  const file = { id, mod_id: modId, game_id, sha256: link.slice(-HASH_DIGITS) };
  return endOfModfile(app, file, { alone: true });
}
