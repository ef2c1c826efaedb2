import { z } from 'zod';
import { reader, user } from '../../platform/access/caller.ts';
import { PathId, page, pageOf } from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import {
  addComment,
  type CommentPlace,
  changeComment,
  commentsScope,
  deleteComment,
  LOCKED,
  listComments,
  PINNED,
  showComment,
  voteOnComment,
} from './comments.ts';
import type { Commented } from './extensions.ts';
import { type CommentedKind, commentedCollections, commentedGuides, commentedMods } from './kinds.ts';
import { commentListing } from './listing.ts';
import { CommentObject, toComment } from './object.ts';

const Content = z.string().trim().min(1).max(5_000).meta({
  description: 'Markup beyond simple formatting, links and images is not shown. `@name-id` mentions someone.',
});
const Karma = z.literal([-1, 1]).meta({ description: '1 or -1' });

const NewCommentBody = z.object({
  content: Content,
  reply_id: z.int().min(0).default(0).meta({ description: 'The parent comment; 0 for none.' }),
});

const CommentChangesBody = z
  .object({
    content: Content.meta({ description: 'Allowed for the author. Optional if another field is sent.' }),
    options: z
      .int()
      .min(0)
      .max(PINNED | LOCKED)
      .meta({ description: 'Allowed for the team. Bits: 1 pinned, 2 locked' }),
    karma: Karma.meta({ description: 'Allowed for everyone but the author. 1 or -1' }),
  })
  .partial()
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), {
    path: ['content'],
    params: { rule: 'required' },
  });

/** The scopes of a cacheable response. Hidden content is not cacheable, because its author may be in no team. */
const scopesOf = ({ resource }: CommentedKind, { id, gameId, isPublic }: Commented): string[] =>
  isPublic ? [commentsScope({ resource, id }), `${resource}/${id}`, `games/${gameId}`, 'users'] : [];

/** The operations on the comments of one resource. */
function commentOperationsOf(on: CommentedKind) {
  const { singular, resource, errors } = on;
  const key = `${singular}_id`;
  const Path = z.object({ game_id: PathId, [key]: PathId });
  const CommentPath = Path.extend({ comment_id: PathId });
  const path = `/games/{game_id}/${resource}/{${key}}/comments`;
  const one = `${path}/{comment_id}`;
  const list = commentListing(on);
  const found = [...errors.unseen, 'COMMENT_NOT_FOUND'] as const;
  const placeOf = (params: Record<string, number | undefined>): CommentPlace => ({
    gameId: params['game_id']!,
    id: params[key]!,
    commentId: params['comment_id'] ?? 0,
  });

  const getAll = operation({
    id: `get-${singular}-comments`,
    tag: 'Comments',
    method: 'GET',
    path,
    says: `Lists the comments on a ${singular}, by default pinned ones first.`,
    access: reader(),
    params: Path,
    list,
    returns: ok(pageOf(CommentObject)),
    errors: errors.unseen,
    handle: async (app, { caller, params, list: request, cache, portal }) => {
      const { thing, comments, total } = await listComments(app, caller, on, placeOf(params), list, request);
      const scopes = scopesOf(on, thing);
      if (scopes.length > 0) cache(...scopes);
      return page(
        comments.map((comment) => toComment(app, { thing, comment }, portal)),
        total,
        request,
      );
    },
  });

  const getOne = operation({
    id: `get-${singular}-comment`,
    tag: 'Comments',
    method: 'GET',
    path: one,
    says: `Shows one comment on a ${singular}.`,
    access: reader(),
    params: CommentPath,
    returns: ok(CommentObject),
    errors: found,
    handle: async (app, { caller, params, cache, portal }) => {
      const told = await showComment(app, caller, on, placeOf(params));
      const scopes = scopesOf(on, told.thing);
      if (scopes.length > 0) cache(...scopes);
      return toComment(app, told, portal);
    },
  });

  const add = operation({
    id: `add-${singular}-comment`,
    tag: 'Comments',
    method: 'POST',
    path,
    says: `Adds a comment to a ${singular}, or a reply to one. Threads have three levels.`,
    access: user('write'),
    params: Path,
    body: NewCommentBody,
    rules: true,
    once: true,
    returns: created(CommentObject),
    errors: [
      'RULES_BASED_MODERATION_FAILURE',
      ...found,
      'COMMENTS_DISABLED_CAN_NOT_ADD',
      errors.keptByTeam,
      'USER_COMMENTS_RESTRICTED',
      errors.tooDeep,
      'USER_IS_BLOCKED',
      'USER_CANT_DO_ACTION_SPAM_DETECTED',
    ],
    handle: async (app, { caller, params, body, portal }) => {
      const place = placeOf(params);
      const sent = { content: body.content, replyId: body.reply_id };
      const comment = toComment(app, await addComment(app, caller, on, place, sent), portal);
      const { gameId, id } = place;
      const address = `${app.addresses.gameApi(gameId)}/games/${gameId}/${resource}/${id}/comments/${comment.id}`;
      return new Created(comment, address);
    },
  });

  const update = operation({
    id: `update-${singular}-comment`,
    tag: 'Comments',
    method: 'PUT',
    path: one,
    says: `Edits a comment on a ${singular}: its author the text, the team whether it is pinned or locked, everyone else its karma.`,
    access: user('write'),
    params: CommentPath,
    body: CommentChangesBody,
    rules: true,
    returns: ok(CommentObject),
    errors: [
      'RULES_BASED_MODERATION_FAILURE',
      ...found,
      'USER_COMMENTS_RESTRICTED',
      'USER_IS_BLOCKED',
      'USER_CANT_DO_ACTION_SPAM_DETECTED',
      'RESOURCE_NO_MODERATE_PERMISSION',
      'MOD_COMMENT_KARMA_NO_PERMISSION',
      'MOD_COMMENT_KARMA_REPEATED_TWICE',
      errors.noNegativeKarma,
    ],
    handle: async (app, { caller, params, body, portal }) =>
      toComment(app, await changeComment(app, caller, on, placeOf(params), body), portal),
  });

  const remove = operation({
    id: `delete-${singular}-comment`,
    tag: 'Comments',
    method: 'DELETE',
    path: one,
    says: `Deletes a comment on a ${singular} with all replies. Allowed for its author and the team of the ${singular} or its game.`,
    access: user('write'),
    ends: ['comments'],
    params: CommentPath,
    returns: noContent,
    errors: [...found, errors.noDelete],
    handle: (app, { caller, params }) => deleteComment(app, caller, on, placeOf(params)),
  });

  const vote = operation({
    id: `add-${singular}-comment-karma`,
    tag: 'Comments',
    method: 'POST',
    path: `${one}/karma`,
    says: `Votes on another user’s comment on a ${singular}. The opposite vote replaces the first.`,
    access: user('write'),
    params: CommentPath,
    body: z.object({ karma: Karma }),
    returns: ok(CommentObject),
    errors: [
      ...found,
      'COMMENT_DELETED',
      'MOD_COMMENT_KARMA_NO_PERMISSION',
      'MOD_COMMENT_KARMA_REPEATED_TWICE',
      errors.noNegativeKarma,
    ],
    handle: async (app, { caller, params, body, portal }) =>
      toComment(app, await voteOnComment(app, caller, on, placeOf(params), body.karma), portal),
  });

  return { getAll, getOne, add, update, remove, vote };
}

export const modComments = commentOperationsOf(commentedMods);
export const guideComments = commentOperationsOf(commentedGuides);
export const collectionComments = commentOperationsOf(commentedCollections);

export const commentOperations = [modComments, guideComments, collectionComments].flatMap((each) =>
  Object.values(each),
);
