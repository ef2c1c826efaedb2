import { type RawBuilder, sql } from 'kysely';

// SQL that several stores share: which file a mod shows on a platform, and which files are public.

/** The game supports the platform, and uploads may run there: locked platforms take cooked files only. */
const isOpenPlatform = (game: string, platform: string) =>
  `exists (select 1 from game_platforms o where o.game_id = ${game} and o.platform = ${platform} and o.locked = 0)`;

const hasPlatforms = (game: string) => `exists (select 1 from game_platforms o where o.game_id = ${game})`;

const isNamed = (file: string) => `exists (select 1 from modfile_platforms p where p.modfile_id = ${file})`;

/** The mod's shown file was uploaded before the game had platforms, so it runs on every open platform. */
const isShownEverywhere = (mod: string) => `exists (select 1 from mod_live_files e
  where e.mod_id = ${mod} and e.platform = '' and not ${isNamed('e.modfile_id')})`;

interface Asked {
  /** SQL expressions. The platform is `''` when the request names none. */
  readonly mod: string;
  readonly game: string;
  readonly platform: string;
}

/** The `mod_live_files.platform` of the file that a mod shows on a platform. */
export const livePlatformOf = ({ mod, game, platform }: Asked): string => `case
  when ${platform} = '' or not ${hasPlatforms(game)} then ''
  when exists (select 1 from mod_live_files e where e.mod_id = ${mod} and e.platform = ${platform}) then ${platform}
  when ${isOpenPlatform(game, platform)} and ${isShownEverywhere(mod)} then '' else ${platform} end`;

/** The mod is live on the platform. Without per-platform support it is live on all of them. */
export const isLiveOn = (platform: string, mod = 'm.id', game = 'm.game_id'): RawBuilder<boolean> =>
  sql<boolean>`(not ${sql.raw(hasPlatforms(game))}
    or exists (select 1 from mod_live_files l where l.mod_id = ${sql.raw(mod)} and l.platform = ${platform})
    or (exists (select 1 from game_platforms o where o.game_id = ${sql.raw(game)} and o.platform = ${platform} and o.locked = 0)
      and ${sql.raw(isShownEverywhere(mod))}))`;

/** The file `f` may run on the platform: it is approved there, or older than the game's platforms and not decided yet. */
export const RUNS_ON_PLATFORM = `(case when cast(? as text) = '' or not ${hasPlatforms('f.game_id')} then 1
  when ${isNamed('f.id')} then (select count(*) from modfile_platforms p
    where p.modfile_id = f.id and p.platform = cast(? as text) and p.status = 1)
  else (select count(*) from game_platforms o
    where o.game_id = f.game_id and o.platform = cast(? as text) and o.locked = 0) end) > 0`;
/** Its parameters; `''` stands for no platform. */
export const forPlatform = (platform: string): readonly string[] => [platform, platform, platform];

/** The same for the query builder. */
export const runsOnPlatform = (platform: string): RawBuilder<boolean> =>
  sql<boolean>`(${sql.join(
    RUNS_ON_PLATFORM.split('?').map((part) => sql.raw(part)),
    sql`${platform}`,
  )})`;

/** The file `f` is public: released, not withdrawn, and approved for a platform if it names any. */
export const IS_PUBLIC_FILE = `f.withdrawn = 0
  and (f.released = 1 or exists (select 1 from mod_live_files l where l.modfile_id = f.id))
  and (not ${isNamed('f.id')} or exists (select 1 from modfile_platforms p where p.modfile_id = f.id and p.status = 1))`;

/** A file's own part of its link (`catalogue/live-files/links.ts`), for a live file `l` and its document `b`. */
export const FILE_LINK = `concat(l.mod_id, '/files/', l.modfile_id, '/download/', substr(b.sha256, 1, 43))`;
