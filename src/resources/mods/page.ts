import type { App } from '../../context.ts';
import type { Statement } from '../../database/database.ts';
import { DIRECT_DOWNLOADS, expiryAt, segmentFor } from '../modfiles/links.ts';
import { toAvatar } from '../users/object.ts';

/**
 * Mods as the text that is sent. The database puts it together from texts that are stored ready, as bringing each column
 * of each mod here costs far more than the page itself. It is `modJson` said in SQL, and a test holds one against the
 * other.
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

/** What SQL calls things on a database; parameters have numbers, as some stand in several places. */
interface Words {
  /** JSON text of a text. */
  readonly quoted: string;
  readonly ids: string;
  /** Joins in the order in which they are written, so that mods come in the order of the ids. */
  readonly join: string;
  readonly together: (expression: string) => string;
  readonly sent: (expression: string) => string;
}

const SQLITE: Words = {
  quoted: 'json_quote',
  ids: 'json_each($1) j cross join mods m on m.id = j.value',
  join: 'cross join',
  together: (expression) => `group_concat(${expression}, ',')`,
  // As bytes it need not become a text of this process before it becomes bytes again.
  sent: (expression) => `cast(${expression} as blob)`,
};

const POSTGRES: Words = {
  quoted: 'to_json',
  ids: `json_array_elements_text(cast($1 as json)) with ordinality as j (value, place)
    join mods m on m.id = cast(j.value as bigint)`,
  join: 'join',
  together: (expression) => `string_agg(${expression}, ',' order by j.place)`,
  sent: (expression) => expression,
};

/** A mod alone needs no more than those up to the language, and in English not even that. */
const GIVEN = [
  'ids',
  'platform',
  'modPages',
  'userPages',
  'files',
  'placeholder',
  'downloads',
  'gap',
  'expires',
  'language',
  'dependencies',
  'end',
] as const;
type Given = (typeof GIVEN)[number];
const given = (name: Given) => `cast($${GIVEN.indexOf(name) + 1} as text)`;

const picture = (size: string) => `${given('files')}, u.avatar, '/${size}.png"'`;
const AVATAR = `case when u.avatar is null then ${given('placeholder')} else concat('{"filename":"avatar.png","original":"',
  ${picture('original')}, ',"thumb_50x50":"', ${picture('thumb_50x50')},
  ',"thumb_100x100":"', ${picture('thumb_100x100')}, '}') end`;

const user = (
  quoted: string,
) => `'{"id":', u.id, ',"name_id":', ${quoted}(u.name_id), ',"username":', ${quoted}(u.username),
  ',"display_name_portal":null,"date_online":', u.date_online, ',"date_joined":', u.date_joined,
  ',"avatar":', ${AVATAR},
  ',"timezone":', ${quoted}(u.timezone), ',"language":', ${quoted}(u.language),
  ',"profile_url":', ${quoted}(concat(${given('userPages')}, u.name_id)), '}'`;

const STATS = `'{"popularity_rank_position":', s.popularity_rank_position,
  ',"popularity_rank_total_mods":', s.popularity_rank_total_mods, ',"date_expires":', s.date_expires, ',', s.counted, '}'`;

const modfile = (gap: string) => `case when b.body is null then '{}' else concat(b.body, ',"download":{"binary_url":"',
  ${given('downloads')}, m.id, '/files/', l.modfile_id, '/download', ${gap}, '","date_expires":', ${given('expires')}, '}}') end`;

const needs = (option: string) => `case when ${option} <> 0
  and exists (select 1 from mod_dependencies x where x.mod_id = m.id) then 'true' else 'false' end`;

/** What a list knows of its game, and the single mod has to look up. */
interface Game {
  readonly pages: string;
  readonly dependencies: string;
  readonly gap: string;
  readonly platform: string;
}

const OF_PAGE: Game = {
  pages: given('modPages'),
  dependencies: `cast(${given('dependencies')} as integer)`,
  gap: given('gap'),
  platform: given('platform'),
};
const OF_ROW: Game = {
  pages: `${given('modPages')}, g.name_id, '/m/'`,
  dependencies: 'g.dependency_option',
  gap: `case when (g.api_access_options & ${DIRECT_DOWNLOADS}) = 0 then ${given('gap')} else '' end`,
  platform: `case when exists (select 1 from game_platforms o where o.game_id = m.game_id) then ${given('platform')} else '' end`,
};

const modIn = (quoted: string, { pages, dependencies, gap }: Game, translated: boolean) =>
  `concat(${translated ? 'coalesce(t.body, d.body)' : 'd.body'}, ',"modfile":', ${modfile(gap)},
    ',"dependencies":', ${needs(dependencies)}, ',"profile_url":', ${quoted}(concat(${pages}, m.name_id)),
    ',"submitted_by":', ${user(quoted)}, ',"stats":', ${STATS}, '}')`;

const joinedTo = (join: string, { platform }: Game, translated: boolean) => `
  ${join} mod_documents d on d.mod_id = m.id and d.language = 'en'
  ${join} mod_stats s on s.mod_id = m.id
  ${join} users u on u.id = m.submitted_by
  ${translated ? `left join mod_documents t on t.mod_id = m.id and t.language = ${given('language')}` : ''}
  left join mod_live_files l on l.mod_id = m.id and l.platform = ${platform}
  left join modfiles f on f.id = l.modfile_id
  left join modfile_documents b on b.modfile_id = l.modfile_id`;

const SIGNED = "case when b.body is not null then concat(l.modfile_id, '/', f.sha256) end";

const pageIn = ({ quoted, ids, join, together, sent }: Words, translated: boolean) =>
  `select ${sent(`concat('{"data":[', ${together(modIn(quoted, OF_PAGE, translated))}, '],"result_count":', count(*), ${given('end')})`)} as text,
      ${together(SIGNED)} as signed
    from ${ids} ${joinedTo(join, OF_PAGE, translated)}`;

const singleIn = ({ quoted }: Words, translated: boolean) =>
  `select m.game_id, m.status, m.visible, m.submitted_by, g.status as game_status, g.api_access_options,
      ${modIn(quoted, OF_ROW, translated)} as text, ${SIGNED} as signed
    from mods m join games g on g.id = m.game_id ${joinedTo('join', OF_ROW, translated)}
    where m.id = cast($1 as bigint)`;

/** PostgreSQL wants every parameter to have its place, so that English is there one language of many. */
const statementFor = (sql: (words: Words, translated: boolean) => string, translated: boolean): Statement => ({
  text: sql(SQLITE, translated).replace(/\$(\d+)/g, '?$1'),
  postgres: sql(POSTGRES, true),
});
const PAGE = { english: statementFor(pageIn, false), translated: statementFor(pageIn, true) };
const SINGLE = { english: statementFor(singleIn, false), translated: statementFor(singleIn, true) };

interface Page {
  readonly text: Uint8Array | string;
  /** What the links of its files are signed for, in their order; null where there are none. */
  readonly signed: string | null;
}

/** A mod alone, with what decides who may see it. */
export interface SingleMod {
  readonly game_id: number;
  readonly status: number;
  readonly visible: number;
  readonly submitted_by: number;
  readonly game_status: number;
  readonly api_access_options: number;
  readonly text: string;
  readonly signed: string | null;
}

export async function pageOfMods(app: App, request: PageRequest): Promise<Buffer> {
  const { gameId, ids, language, platform, limit, offset, total } = request;
  const game = (await app.db.first<GameOfPage>(GAME, [gameId]))!;
  const expires = expiryAt(app.clock.now());
  const values = [
    ...sharedValues(app, gameId, expires, {
      ids: JSON.stringify(ids),
      platform: game.has_platforms ? platform : undefined,
      modPages: app.addresses.mod(game.name_id, ''),
    }),
    language,
    String(game.dependency_option),
    `,"result_offset":${offset},"result_limit":${limit},"result_total":${total}}`,
  ];
  const { text, signed } = (await app.db.first<Page>(language === 'en' ? PAGE.english : PAGE.translated, values))!;
  const bytes =
    typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  let at = 0;
  for (const file of signed?.split(',') ?? []) {
    at = bytes.indexOf(GAP_SIGN, at);
    at += bytes.write(segmentFor(app, file, expires), at, 'latin1');
  }
  return bytes;
}

/** A single mod of a game in whatever state; its text is for those who may see it. */
export async function singleMod(
  app: App,
  gameId: number,
  id: number,
  language: string,
  platform: string | undefined,
): Promise<SingleMod | undefined> {
  const expires = expiryAt(app.clock.now());
  const shared = { ids: String(id), platform, modPages: app.addresses.game('') };
  const values = sharedValues(app, gameId, expires, shared);
  const isPlain = language === 'en' && app.db.dialect === 'sqlite';
  const mod = await app.db.first<SingleMod>(
    isPlain ? SINGLE.english : SINGLE.translated,
    isPlain ? values : [...values, language],
  );
  if (!mod || mod.signed === null || !mod.text.includes(GAP)) return mod;
  return { ...mod, text: mod.text.replace(GAP, segmentFor(app, mod.signed, expires)) };
}

function sharedValues(
  app: App,
  gameId: number,
  expires: number,
  { ids, platform = '', modPages }: { ids: string; platform: string | undefined; modPages: string },
): string[] {
  const { addresses } = app;
  return [
    ids,
    platform,
    modPages,
    addresses.user(''),
    addresses.file(''),
    placeholderOf(app),
    `${addresses.gameApi(gameId)}/games/${gameId}/mods/`,
    `/${GAP}`,
    String(expires),
  ];
}

const placeholders = new WeakMap<App['addresses'], string>();

function placeholderOf(app: App): string {
  const known = placeholders.get(app.addresses) ?? JSON.stringify(toAvatar(app, null));
  placeholders.set(app.addresses, known);
  return known;
}

/** Where a signature belongs: a character that JSON never holds, and as many as the signature has. */
const GAP_SIGN = 1;
const GAP = String.fromCharCode(GAP_SIGN).repeat('1234567890-'.length + 43);
