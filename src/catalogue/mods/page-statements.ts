import { toAvatar } from '../../people/users/object.ts';
import type { App } from '../../platform/app.ts';
import { type Database, idsIn, type Statement, type Value } from '../../platform/database/database.ts';
import { FILE_LINK, livePlatformOf } from '../../platform/database/platforms.ts';
import { versionsOf } from './document-store.ts';
import { UNENCODED } from './page-addresses.ts';
import { hasPending } from './stats-store.ts';

// The statements that assemble mods from stored JSON. The databases concatenate only its small parts: PostgreSQL copies a
// text several times for each function that it passes through. The result must equal `modJson`; a test compares them.

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
  /** What changes with the rows that a single mod is made of. */
  readonly versions: (translated: boolean) => string;
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
  versions: () => `''`,
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
  versions: (translated) =>
    `${versionsOf(translated)} || '.' || cast(g.xmin as text) || '.' || ${hasPending('c.mod_id')}`,
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

export const BEFORE_STATS = ',"stats":{';
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

const fromCards = ({ people, among }: SqlDialect, variant: Variant) =>
  `from mod_cards c join games g on g.id = c.game_id ${joinedTo(people, variant)} where c.mod_id ${among}`;

function singleIn(dialect: SqlDialect, fixed: Fixed, variant: Variant): string {
  const { translated, live } = variant;
  return `select c.mod_id as id, c.game_id, c.status, c.visible, c.submitted_by, g.status as game_status, g.api_access_options,
      ${bodyIn(translated)} as body, ${live.id} as file_id, ${live.link} as file_link, ${live.body} as file_body,
      ${dialect.joined(...endIn(dialect, fixed, ofRow(fixed)))} as rest, ${hasPending('c.mod_id')} as pending,
      ${dialect.versions(translated)} as versions ${fromCards(dialect, variant)}`;
}

const versionsOfSingleIn = (dialect: SqlDialect, _: Fixed, variant: Variant): string =>
  `select string_agg(c.mod_id || ' ' || ${dialect.versions(variant.translated)}, ',') as versions
    ${fromCards(dialect, variant)}`;

/** A statement, and which of the values it takes: databases refuse values for parameters that a variant lacks. */
export interface Prepared {
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

export const variantFor = (variants: Variants, language: string, platform: string): Prepared =>
  variants[language === 'en' ? 'english' : 'translated'][platform === '' ? 'shown' : 'onPlatform'];

const statements = new WeakMap<
  App['addresses'],
  Record<'page' | 'versions' | 'single' | 'versionsOfSingle', Variants>
>();

export function statementsOf(app: App) {
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
    versionsOfSingle: variantsOf(versionsOfSingleIn, fixed),
  };
  statements.set(addresses, made);
  return made;
}
