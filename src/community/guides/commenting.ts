import { requireGame } from '../../catalogue/games/games.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database } from '../../platform/database/database.ts';
import { countActive } from '../../records/metrics/counting.ts';
import { recordStudioEvent } from '../../records/webhooks/outbox.ts';
import type { Commentable, Commented } from '../comments/extensions.ts';
import {
  countCommentsOfGuide,
  type GuideRow,
  isAuthor,
  isLive,
  requireGuide,
  requireGuideForChange,
} from './guides.ts';

/** The bit of `community_options` of a guide and of its game. */
const COMMENTS = 2_048;

async function commentedGuide(
  app: App,
  reader: Pick<Database, 'first'>,
  caller: Caller,
  guide: GuideRow,
): Promise<Commented> {
  const level = await teamLevel(reader, caller, 'games', guide.game_id);
  const gameOptions = (await requireGame(reader, caller, guide.game_id)).community_options;
  return {
    id: guide.id,
    gameId: guide.game_id,
    ownerId: guide.submitted_by,
    isPublic: isLive(app, guide),
    allowsComments: (gameOptions & guide.community_options & COMMENTS) !== 0,
    gameOptions,
    isTeam: isAuthor(caller, guide) || level >= MODERATOR,
  };
}

export const commentableGuides: Commentable = {
  resource: 'guides',
  find: async (app, reader, caller, gameId, id) =>
    commentedGuide(app, reader, caller, await requireGuide(app, reader, caller, gameId, id)),
  lock: async (app, transaction, caller, gameId, id) =>
    commentedGuide(app, transaction, caller, await requireGuideForChange(app, transaction, caller, gameId, id)),
  onChange: async (app, transaction, guide, { type, userId, address, platform, difference }) => {
    if (type === 'added') await countActive(app, transaction, guide.gameId, { userId, address, platform });
    await countCommentsOfGuide(transaction, { id: guide.id, game_id: guide.gameId }, difference);
    await recordStudioEvent(app, transaction, {
      gameId: guide.gameId,
      kind: type === 'added' ? 'GUIDE_COMMENT_ADDED' : 'GUIDE_COMMENT_DELETED',
      subject: `guides/${guide.id}`,
      data: { guide_id: guide.id, user_id: userId },
    });
  },
};
