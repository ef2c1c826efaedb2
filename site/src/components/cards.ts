import type { Output } from '@modstead/client';
import type { Formats } from '#format';

type Mod = Output<'GET /games/{game_id}/mods/{mod_id}'>;
type Game = Output<'GET /games/{game_id}'>;

/** Formatted by the server, because a browser that formats nothing is ready sooner. */
const counted = (count: number, { number, compact }: Formats) => ({
  count,
  shown: number(count),
  short: compact(count),
});

/** What lists show of a mod. A page sends all that it loads to the browser once more, so it loads no more than it shows. */
export const modOnCard = ({ modfile, ...mod }: Mod, format: Formats) => ({
  id: mod.id,
  game_id: mod.game_id,
  name: mod.name,
  name_id: mod.name_id,
  summary: mod.summary,
  profile_url: mod.profile_url,
  price: mod.price,
  maturity_option: mod.maturity_option,
  date_updated: mod.date_updated,
  picture: mod.logo.thumb_320x180,
  author: mod.submitted_by.username,
  authorName: mod.submitted_by.name_id,
  downloads: counted(mod.stats.downloads_total, format),
  subscribers: mod.stats.subscribers_total,
  ratings: { count: mod.stats.ratings_total, shown: format.number(mod.stats.ratings_total) },
  positive: mod.stats.ratings_percentage_positive,
  file: 'filesize' in modfile ? { id: modfile.id, bytes: modfile.filesize } : undefined,
});

export type ModOnCard = ReturnType<typeof modOnCard>;

/** A page of a list of mods, as its cards show it. */
export const modsOnCards = (
  { data, result_total }: { readonly data: readonly Mod[]; readonly result_total: number },
  format: Formats,
) => ({
  data: data.map((mod) => modOnCard(mod, format)),
  result_total,
});

export const gameOnCard = ({ id, name, name_id, summary, logo, stats }: Game, format: Formats) => ({
  id,
  name,
  name_id,
  summary,
  picture: 'thumb_640x360' in logo ? logo.thumb_640x360 : undefined,
  mods: stats?.mods_count_total,
  downloads: counted(stats?.mods_downloads_total ?? 0, format),
});

export type GameOnCard = ReturnType<typeof gameOnCard>;
