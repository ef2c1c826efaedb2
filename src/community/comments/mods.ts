import { requireGame } from '../../catalogue/games/games.ts';
import { isPublic, levelsOf, type ModStanding, requireMod, requireModForChange } from '../../catalogue/mods/mods.ts';
import { MODERATOR } from '../../catalogue/teams/teams.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { Database } from '../../platform/database/database.ts';
import { answersTo } from '../../platform/database/pipelining.ts';
import { recordModEvent } from '../../records/events/events.ts';
import { countActive } from '../../records/metrics/counting.ts';
import type { Commentable, Commented } from './extensions.ts';
import * as store from './store.ts';

/** The bit of `community_options` of a mod and of its game. */
const COMMENTS = 1;

type Reader = Pick<Database, 'first'>;

interface Asked {
  readonly gameId: number;
  readonly id: number;
}

async function commentedMod(
  reader: Reader,
  caller: Caller,
  { gameId, id }: Asked,
  standing: Promise<ModStanding>,
): Promise<Commented> {
  const [mod, levels, options, { community_options: gameOptions }] = await answersTo([
    standing,
    levelsOf(reader, caller, { id, game_id: gameId }),
    store.optionsOfMod(reader, id),
    requireGame(reader, caller, gameId),
  ]);
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
  find: (_, reader, caller, gameId, id) =>
    commentedMod(reader, caller, { gameId, id }, requireMod(reader, caller, gameId, id)),
  lock: (_, transaction, caller, gameId, id) =>
    commentedMod(transaction, caller, { gameId, id }, requireModForChange(transaction, caller, gameId, id)),
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
