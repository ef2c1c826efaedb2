import { sql } from 'kysely';
import { type Database, idsIn, type Query, type Statement, statement } from '../../platform/database/database.ts';
import { KeptRows, type Made } from '../../platform/database/kept.ts';
import { FILE_LINK, IS_PUBLIC_FILE, livePlatformOf } from '../../platform/database/platforms.ts';

/** A mod of any state with its live file on the requested platform. */
export interface FoundMod {
  readonly id: number;
  readonly game_id: number;
  readonly status: number;
  readonly visible: number;
  /** The opening of its JSON object, without a brace at the end. */
  readonly head: Buffer;
  /** 1 if it depends on others. */
  readonly needs: number;
  readonly file_id: number | null;
  /** The JSON of its live file up to the link, and the file's own part of the link. */
  readonly file: { readonly body: Buffer; readonly link: Buffer } | undefined;
}

interface ModRow extends Omit<FoundMod, 'head' | 'file'> {
  readonly head: string;
  readonly file_link: string | null;
  readonly file_body: string | null;
  readonly versions: string;
}

const cards = {
  sqlite: 'json_each(?) j join mod_cards c on c.mod_id = j.value',
  postgres: 'mod_cards c',
};
const isWanted = `c.mod_id = any(${idsIn('?')})`;
const quoted = {
  sqlite: (text: string) => `json_quote(${text})`,
  postgres: (text: string) => `cast(to_json(${text}) as text)`,
};
/** Every change of what is read here changes the card, except translations and live files of platforms. */
const versions = { sqlite: "''", postgres: 'cast(c.xmin as text)' };
type Dialect = Database['dialect'];

/** Fewer joins where the game has no platforms and the language is English, as for most requests. */
function modsIn(dialect: Dialect, onPlatform: boolean, translated: boolean): string {
  const name = translated ? "coalesce(nullif(t.text, ''), m.name)" : 'm.name';
  const platform = livePlatformOf({ mod: 'c.mod_id', game: 'c.game_id', platform: 'cast(? as text)' });
  const file = onPlatform
    ? `l.modfile_id as file_id, b.body as file_body, case when b.body is not null then ${FILE_LINK} end as file_link`
    : 'c.file_id, c.file_body, c.file_link';
  return `select c.mod_id as id, c.game_id, c.status, c.visible, c.needs, ${file}, ${versions[dialect]} as versions,
      concat('{"id":', c.mod_id, ',"name_id":', ${quoted[dialect]('c.name_id')}, ',"name":', ${quoted[dialect](name)},
        ',"status":', c.status, ',"visible":', c.visible, ',"date_updated":', m.date_updated) as head
    from ${cards[dialect]} join mods m on m.id = c.mod_id ${dialect === 'postgres' ? `and ${isWanted}` : ''}
    ${translated ? "left join translations t on t.resource = 'mods' and t.resource_id = m.id and t.field = 'name' and t.language = ?" : ''}
    ${onPlatform ? `left join mod_live_files l on l.mod_id = c.mod_id and l.platform = ${platform} left join modfile_documents b on b.modfile_id = l.modfile_id` : ''}`;
}

const statements = new Map<string, Statement>();

function modsStatement(onPlatform: boolean, translated: boolean): Statement {
  const key = `${onPlatform} ${translated}`;
  const textIn = (dialect: Dialect) => modsIn(dialect, onPlatform, translated);
  const known = statements.get(key) ?? statement(textIn('sqlite'), textIn('postgres'));
  statements.set(key, known);
  return known;
}

interface Reading {
  readonly language: string;
  readonly platform: string | undefined;
}

const VERSIONS = statement(
  '',
  `select string_agg(c.mod_id || ' ' || ${versions.postgres}, ',') as versions from mod_cards c where ${isWanted}`,
);
const kept = new KeptRows<FoundMod>(({ head, file }) => head.length + (file ? file.body.length + file.link.length : 0));

export async function modsWith(db: Database, ids: readonly number[], reading: Reading): Promise<readonly FoundMod[]> {
  if (ids.length === 0) return [];
  const isVersioned = reading.language === 'en' && reading.platform === undefined;
  const mods = await kept.valuesOf(db, {
    ...{ ids, variant: `${reading.language}/${reading.platform ?? ''}`, surroundings: '' },
    versions: isVersioned ? (some) => ({ statement: VERSIONS, values: [JSON.stringify(some)] }) : undefined,
    make: async (some) => (await readMods(db, some, reading)).map(madeOf),
  });
  return [...mods.values()];
}

function madeOf({ head, file_link: link, file_body: body, versions, ...mod }: ModRow): Made<FoundMod> {
  const file = link === null || body === null ? undefined : { body: Buffer.from(body), link: Buffer.from(link) };
  return { id: mod.id, versions, scopes: [`mods/${mod.id}`], value: { ...mod, head: Buffer.from(head), file } };
}

async function readMods(db: Database, ids: readonly number[], { language, platform }: Reading) {
  const mods = modsStatement(platform !== undefined, language !== 'en');
  const platforms = platform === undefined ? [] : mods.text.match(/cast\(\? as text\)/g)!.map(() => platform);
  const languages = language === 'en' ? [] : [language];
  return db.all<ModRow>(mods, [JSON.stringify(ids), ...languages, ...platforms]);
}

export async function idsOfNames(query: Query, gameId: number, names: readonly string[]) {
  if (names.length === 0) return [];
  const mods = query.selectFrom('mods').select(['id', 'name_id']).where('game_id', '=', gameId);
  return mods.where('name_id', 'in', names).execute();
}

export interface FoundFile {
  readonly id: number;
  readonly mod_id: number;
  readonly game_id: number;
  readonly md5: string;
  readonly sha256: string;
  readonly body: string;
  /** 0 if only the teams of its mod and its game may see it. */
  readonly offered: number;
}

/** The newest files with each digest; the same bytes may be in many mods. */
const PER_DIGEST_MAX = 10;

export async function filesWith(
  query: Query,
  gameId: number,
  column: 'md5' | 'storage_key',
  values: readonly string[],
): Promise<FoundFile[]> {
  if (values.length === 0) return [];
  const digest = sql.ref(`f.${column}`);
  const { rows } = await sql<FoundFile>`select r.id, r.mod_id, r.game_id, r.md5, r.sha256, r.offered, d.body from (
      select f.id, f.mod_id, f.game_id, f.md5, f.sha256,
        case when ${sql.raw(IS_PUBLIC_FILE)} then 1 else 0 end as offered,
        row_number() over (partition by ${digest} order by f.id desc) as place
      from modfiles f where ${digest} in (${sql.join(values)}) and f.game_id = ${gameId} and f.kind = 'file'
        and f.status <> 3
    ) r join modfile_documents d on d.modfile_id = r.id
    where r.place <= ${PER_DIGEST_MAX} order by r.id`.execute(query);
  return rows;
}

export interface Edge {
  readonly mod_id: number;
  readonly dependency_id: number;
}

const EDGES: Statement = {
  text: `select d.mod_id, d.dependency_id from json_each(?) j join mod_dependencies d on d.mod_id = j.value
    order by d.mod_id, d.dependency_id limit ?`,
  postgres: `select d.mod_id, d.dependency_id from mod_dependencies d where d.mod_id = any(${idsIn('$1')})
    order by d.mod_id, d.dependency_id limit $2`,
};
export const dependenciesOf = async (db: Database, ids: readonly number[], limit: number): Promise<Edge[]> =>
  ids.length === 0 ? [] : db.all<Edge>(EDGES, [JSON.stringify(ids), limit]);

export interface LiveFile {
  readonly id: number;
  readonly mod_id: number;
  readonly platform: string;
  readonly sha256: string;
  readonly body: string;
}

const LIVE_FILES: Statement = {
  text: `select l.modfile_id as id, l.mod_id, l.platform, b.sha256, b.body from json_each(?) j
    join mod_live_files l on l.mod_id = j.value and l.platform <> ''
    join modfile_documents b on b.modfile_id = l.modfile_id order by l.mod_id, l.platform`,
  postgres: `select l.modfile_id as id, l.mod_id, l.platform, b.sha256, b.body
    from mod_live_files l join modfile_documents b on b.modfile_id = l.modfile_id
    where l.mod_id = any(${idsIn('$1')}) and l.platform <> '' order by l.mod_id, l.platform`,
};
/** The live files on each platform, in games that have platforms. */
export const liveFilesOf = async (db: Database, ids: readonly number[]): Promise<LiveFile[]> =>
  ids.length === 0 ? [] : db.all<LiveFile>(LIVE_FILES, [JSON.stringify(ids)]);
