import type { App } from '../../platform/app.ts';
import { memoised } from '../../platform/database/totals.ts';
import * as store from './store.ts';

/** The number of public mods on a platform that have a tag, by the tag's name. */
export type TagCounts = ReadonlyMap<string, number>;

interface TagOption {
  readonly tags: readonly string[];
  readonly platforms: readonly string[];
  readonly tag_count_map: Readonly<Record<string, number>>;
}

/** The tags by which players may filter on a platform, each with the number of its mods there. */
export const optionsOn = <T extends TagOption>(options: readonly T[], platform: string, counts: TagCounts): T[] =>
  options
    .filter(({ platforms }) => platforms.length === 0 || platforms.includes(platform))
    .map((option) => ({
      ...option,
      tag_count_map: Object.fromEntries(option.tags.map((name) => [name, counts.get(name) ?? 0])),
    }));

/** The counts by game, for the games with per-platform support. */
export async function tagCountsOn(
  app: App,
  gameIds: readonly number[],
  platform: string,
): Promise<ReadonlyMap<number, TagCounts>> {
  const supporting = await store.withPlatforms(app.db.query, gameIds);
  const [only] = supporting;
  // Counting reads every tagged mod, so it must not block the thread that serves other requests.
  const find = () => store.countsOn(app.db.readInWorker, supporting, platform);
  if (only === undefined) return new Map();
  if (supporting.length > 1) return find();
  return memoised(app.db.changes, { scope: `games/${only}/mods`, asked: ['tags', platform], find });
}
