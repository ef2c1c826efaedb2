import type { App } from '../../platform/app.ts';
import * as store from './store.ts';

export type { ImportRow } from './store.ts';

interface PathIds {
  readonly game_id?: number;
  readonly mod_id?: number;
}

/**
 * The ids of a path after an import that had to give other ids, or undefined if nothing moved. It is asked only when a
 * path was not found, so an id that is in use here is never replaced.
 */
export async function movedIds<P extends PathIds>({ db }: App, params: P): Promise<P | undefined> {
  const { game_id, mod_id } = params;
  if (game_id === undefined) return undefined;
  const game = await store.movedTo(db, 'games', game_id);
  if (mod_id !== undefined)
    for (const each of game === undefined ? [game_id] : [game_id, game]) {
      const mod = await store.modMovedTo(db, each, mod_id);
      if (mod !== undefined) return { ...params, game_id: each, mod_id: mod };
    }
  return game === undefined ? undefined : { ...params, game_id: game };
}
