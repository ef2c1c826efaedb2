import type { App } from '../../platform/app.ts';
import { remembered } from '../../platform/database/totals.ts';
import * as store from './store.ts';

/** How many public mods that are live on a platform have a tag, by the tag's name. */
export type TagCounts = ReadonlyMap<string, number>;

interface TagOption {
  readonly tags: readonly string[];
  readonly platforms: readonly string[];
  readonly tag_count_map: Readonly<Record<string, number>>;
}

/** The tags by which players may filter on a platform, each with the number of mods that they find there. */
export const optionsOn = <T extends TagOption>(options: readonly T[], platform: string, counts: TagCounts): T[] =>
  options
    .filter(({ platforms }) => platforms.length === 0 || platforms.includes(platform))
    .map((option) => ({
      ...option,
      tag_count_map: Object.fromEntries(option.tags.map((name) => [name, counts.get(name) ?? 0])),
    }));

/** The counts of those of the games that have per-platform support. */
export async function tagCountsOn(
  app: App,
  gameIds: readonly number[],
  platform: string,
): Promise<ReadonlyMap<number, TagCounts>> {
  const supporting = await store.withPlatforms(app.db.query, gameIds);
  const [only] = supporting;
  // Counting looks at every tagged mod, so it must not keep the writer's thread from other requests.
  const find = () => store.countsOn(app.db.aside, supporting, platform);
  if (only === undefined) return new Map();
  if (supporting.length > 1) return find();
  return remembered(app.db.changes, { scope: `games/${only}/mods`, asked: ['tags', platform], find });
}
