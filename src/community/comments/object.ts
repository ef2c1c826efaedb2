import { z } from 'zod';
import { toUserObject, UserObject } from '../../people/users/object.ts';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import type { ShownComment } from './comments.ts';

export const CommentObject = z
  .object({
    id: Id,
    game_id: Id,
    mod_id: Integer.meta({ description: 'The id of the mod; 0 for a comment on other content.' }),
    resource_id: Id,
    resource_ownership: Integer.meta({ description: '1 if the author submitted the content.' }),
    user: UserObject,
    date_added: Timestamp,
    reply_id: Integer.meta({ description: 'The parent comment; 0 for none.' }),
    thread_position: z.string().meta({ description: 'At most three levels, as `01.02.03`.' }),
    karma: Integer,
    karma_guest: Integer.meta({ description: 'Guests do not vote: 0.' }),
    content: z.string().meta({ description: 'Markup beyond simple formatting, links and images is removed.' }),
    options: Integer.meta({ description: 'Bits: 1 pinned, 2 locked' }),
  })
  .meta({ id: 'Comment' });

export const toComment = (
  app: App,
  { thing, comment }: ShownComment,
  portal: Portal | undefined,
): z.input<typeof CommentObject> => ({
  id: comment.comment_id,
  game_id: comment.game_id,
  mod_id: comment.resource === 'mods' ? comment.resource_id : 0,
  resource_id: comment.resource_id,
  resource_ownership: Number(comment.submitted_by === thing.ownerId),
  user: toUserObject(app, comment, portal),
  date_added: comment.date_added,
  reply_id: comment.reply_id,
  thread_position: comment.thread_position,
  karma: comment.karma,
  karma_guest: 0,
  content: comment.markup,
  options: comment.options,
});
