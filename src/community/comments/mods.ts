import { isPublic, levelsOf, requireMod, requireModForChange } from '../../catalogue/mods/mods.ts';
import { MODERATOR } from '../../catalogue/teams/teams.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { Database } from '../../platform/database/database.ts';
import type { ModInGame } from '../../platform/database/mods-in-games.ts';
import { answersTo } from '../../platform/database/pipelining.ts';
import { recordModEvent } from '../../records/events/events.ts';
import { countActive } from '../../records/metrics/counting.ts';
import type { Commentable, Commented } from './extensions.ts';
import * as store from './store.ts';

/** The bit of `community_options` of a mod and of its game. */
const COMMENTS = 1;

type Reader = Pick<Database, 'first'>;

async function commentedMod(
  reader: Reader,
  caller: Caller,
  mod: Pick<ModInGame, 'id' | 'game_id' | 'status' | 'visible' | 'submitted_by' | 'game_community_options'>,
  options: number,
): Promise<Commented> {
  const levels = await levelsOf(reader, caller, mod);
  const gameOptions = mod.game_community_options;
  return {
    id: mod.id,
    gameId: mod.game_id,
    ownerId: mod.submitted_by,
    isPublic: isPublic(mod),
    allowsComments: (gameOptions & options & COMMENTS) !== 0,
    gameOptions,
    isTeam: levels.mod >= MODERATOR || levels.game >= MODERATOR,
  };
}

export const commentableMods: Commentable = {
  resource: 'mods',
  find: async (_, reader, caller, gameId, id) => {
    const [mod, options] = await answersTo([requireMod(reader, caller, gameId, id), store.optionsOfMod(reader, id)]);
    return commentedMod(reader, caller, mod, options);
  },
  lock: async (_, transaction, caller, gameId, id) => {
    const mod = await requireModForChange(transaction, caller, gameId, id);
    return commentedMod(transaction, caller, mod, mod.community_options);
  },
  onChange: async (app, transaction, mod, { type, userId, address, platform }) => {
    if (type === 'added') await countActive(app, transaction, mod.gameId, { userId, address, platform });
    await recordModEvent(app, transaction, {
      gameId: mod.gameId,
      modId: mod.id,
      userId,
      type: type === 'added' ? 'MOD_COMMENT_ADDED' : 'MOD_COMMENT_DELETED',
      isPublic: mod.isPublic,
    });
  },
};
