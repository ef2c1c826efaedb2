import type { Fetcher } from './fetcher.ts';
import { add, type Lines } from './lines.ts';
import { type List, pick, STATS_FIELDS } from './modio-objects.ts';
import { type ModioReader, PAGE } from './modio-reader.ts';
import type { WorkFolder } from './work-folder.ts';

interface Stats extends Record<string, unknown> {
  readonly mod_id: number;
}

export const statsRow = (modId: number, stats: Record<string, unknown>) => ({
  ...pick(stats, STATS_FIELDS),
  mod_id: modId,
});

/** Fetches the stats of all mods, a hundred per request: they change without an event, and without the date of the mod. */
export async function fetchStats(fetcher: Fetcher, work: WorkFolder, reader: ModioReader): Promise<void> {
  let isListed = true;
  for (let last = work.placeOf('stats'); last !== true; last = work.placeOf('stats')) {
    const listed: readonly Stats[] | undefined = isListed ? await listedAfter(fetcher, reader, last) : undefined;
    isListed = listed !== undefined;
    const page = listed ?? (await ofModsAfter(reader, last));
    const rows: Lines = {};
    for (const stats of page)
      if (stats['downloads_total'] !== undefined) add(rows, 'mod_stats', statsRow(stats.mod_id, stats));
    await work.put('stats', page.length < PAGE ? true : page.at(-1)!.mod_id, rows);
  }
}

/** Undefined if the source has no such list, or ignores the condition that makes it one page after the other. */
async function listedAfter(
  fetcher: Fetcher,
  { root }: ModioReader,
  last: number,
): Promise<readonly Stats[] | undefined> {
  const query = { _sort: 'mod_id', 'mod_id-min': last + 1, _limit: PAGE };
  const data = (await fetcher.unlessRefused<List<Stats>>(`${root}/mods/stats`, query))?.data;
  return data?.every(({ mod_id }) => mod_id > last) ? data : undefined;
}

async function ofModsAfter(reader: ModioReader, last: number): Promise<readonly Stats[]> {
  const { data } = await reader.requireMods({ _sort: 'id', 'id-min': last + 1, _limit: PAGE });
  return data.map(({ id, stats }) => ({ ...stats, mod_id: id }));
}
