import type { Fetcher, Query } from './fetcher.ts';
import type { List } from './modio-objects.ts';
import type { Changes } from './work-folder.ts';

interface ModEvent {
  readonly id: number;
  readonly mod_id: number;
  readonly event_type: string;
}

const PAGE = 100;

/** Undefined if the source refuses the list: everything can be compared instead. */
async function eventsIn(fetcher: Fetcher, game: number, query: Query): Promise<readonly ModEvent[] | undefined> {
  const path = `games/${game}/mods/events`;
  const answer = await fetcher.unlessRefused<List<ModEvent>>(path, { ...query, latest: 'false' });
  return Array.isArray(answer?.data) ? answer.data : undefined;
}

/** The id of the newest event of a game's mods, 0 if there is none, or -1 if the source has no such list. */
export async function newestEvent(fetcher: Fetcher, game: number): Promise<number> {
  const newest = await eventsIn(fetcher, game, { _sort: '-id', _limit: 1 });
  return newest ? (newest[0]?.id ?? 0) : -1;
}

const GONE = new Map<string, 'deleted' | 'hidden'>([
  ['MOD_DELETED', 'deleted'],
  ['MOD_UNAVAILABLE', 'hidden'],
]);

/** The mods that events after this one name, with the last event, or undefined if the source has no such list. */
export async function changesAfter(
  fetcher: Fetcher,
  game: number,
  event: number,
): Promise<{ readonly last: number; readonly changes: Changes } | undefined> {
  const mods = new Set<number>();
  const gone: Record<string, 'deleted' | 'hidden'> = {};
  for (let last = event; ; ) {
    const before = last;
    const events = await eventsIn(fetcher, game, { _sort: 'id', 'id-min': before + 1, _limit: PAGE });
    // A source that ignores the condition would send the same page for ever.
    if (!events?.every(({ id }) => id > before)) return undefined;
    for (const { id, mod_id, event_type } of events) {
      last = id;
      mods.add(mod_id);
      const state = GONE.get(event_type);
      if (state) gone[mod_id] = state;
    }
    if (events.length < PAGE) return { last, changes: { mods: [...mods], gone } };
  }
}
