import { sql } from 'kysely';
import { type Database, type Query, type Statement, statement } from '../../platform/database/database.ts';
import { IS_PUBLIC_FILE, livePlatformOf } from '../../platform/database/platforms.ts';

/** A mod of any state with its live file on the requested platform. */
export interface FoundMod {
  readonly id: number;
  readonly game_id: number;
  readonly status: number;
  readonly visible: number;
  /** The opening of its JSON object, without a brace at the end. */
  readonly head: string;
  readonly file_id: number | null;
  readonly file_sha256: string | null;
  readonly file_body: string | null;
}

const DIALECTS = {
  sqlite: { ids: 'json_each(?) j join mods m on m.id = j.value', quoted: (text: string) => `json_quote(${text})` },
  postgres: {
    ids: "unnest(cast(translate(?, '[]', '{}') as bigint[])) as j (value) join mods m on m.id = j.value",
    quoted: (text: string) => `cast(to_json(${text}) as text)`,
  },
};

/** Two joins fewer where the game has no platforms and the language is English, as for most requests. */
function modsIn({ ids, quoted }: (typeof DIALECTS)['sqlite'], onPlatform: boolean, translated: boolean): string {
  const name = translated ? "coalesce(nullif(t.text, ''), m.name)" : 'm.name';
  const platform = onPlatform ? livePlatformOf({ mod: 'm.id', game: 'm.game_id', platform: 'cast(? as text)' }) : "''";
  return `select m.id, m.game_id, m.status, m.visible, l.modfile_id as file_id, b.sha256 as file_sha256,
      b.body as file_body, concat('{"id":', m.id, ',"name_id":', ${quoted('m.name_id')}, ',"name":', ${quoted(name)},
        ',"status":', m.status, ',"visible":', m.visible, ',"date_updated":', m.date_updated) as head
    from ${ids}
    ${translated ? "left join translations t on t.resource = 'mods' and t.resource_id = m.id and t.field = 'name' and t.language = ?" : ''}
    left join mod_live_files l on l.mod_id = m.id and l.platform = ${platform}
    left join modfile_documents b on b.modfile_id = l.modfile_id`;
}

const statements = new Map<string, Statement>();

function modsStatement(onPlatform: boolean, translated: boolean): Statement {
  const key = `${onPlatform} ${translated}`;
  const known = statements.get(key) ?? {
    text: modsIn(DIALECTS.sqlite, onPlatform, translated),
    postgres: statement(modsIn(DIALECTS.postgres, onPlatform, translated)).postgres,
  };
  statements.set(key, known);
  return known;
}

export async function modsWith(
  db: Database,
  ids: readonly number[],
  { language, platform }: { readonly language: string; readonly platform: string | undefined },
): Promise<FoundMod[]> {
  if (ids.length === 0) return [];
  const mods = modsStatement(platform !== undefined, language !== 'en');
  const platforms = platform === undefined ? [] : mods.text.match(/cast\(\? as text\)/g)!.map(() => platform);
  const languages = language === 'en' ? [] : [language];
  return db.all<FoundMod>(mods, [JSON.stringify(ids), ...languages, ...platforms]);
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
  postgres: `select d.mod_id, d.dependency_id from unnest(cast(translate($1, '[]', '{}') as bigint[])) as j (value)
    join mod_dependencies d on d.mod_id = j.value order by d.mod_id, d.dependency_id limit $2`,
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
    from unnest(cast(translate($1, '[]', '{}') as bigint[])) as j (value)
    join mod_live_files l on l.mod_id = j.value and l.platform <> ''
    join modfile_documents b on b.modfile_id = l.modfile_id order by l.mod_id, l.platform`,
};
/** The live files on each platform, in games that have platforms. */
export const liveFilesOf = async (db: Database, ids: readonly number[]): Promise<LiveFile[]> =>
  ids.length === 0 ? [] : db.all<LiveFile>(LIVE_FILES, [JSON.stringify(ids)]);

const GAME = statement(`select g.dependency_option,
    case when exists (select 1 from game_platforms o where o.game_id = g.id) then 1 else 0 end as has_platforms
  from games g where g.id = ?`);
export const gameWith = (db: Database, gameId: number) =>
  db.first<{ dependency_option: number; has_platforms: number }>(GAME, [gameId]);
