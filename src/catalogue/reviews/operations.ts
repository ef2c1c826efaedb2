import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { GamePath, Id, PathId, Timestamp } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { decideReview, type Reviews, reviewsOf, setReviewing } from './reviews.ts';

const ReviewsObject = z
  .object({
    required: z.boolean().meta({ description: 'Whether sensitive changes wait for a second administrator.' }),
    data: z.array(
      z.object({
        id: Id,
        requested_by: Id,
        change: z.object({
          kind: z.string(),
          email: z.string().optional(),
          member: Id.optional(),
          level: z.int().optional(),
          leader: z.boolean().optional(),
        }),
        approved: z.boolean().nullable().meta({ description: 'Null until it is decided.' }),
        date_added: Timestamp,
        date_expires: Timestamp,
      }),
    ),
  })
  .meta({ id: 'PermissionReviews' });

const toReviews = ({ isRequired, open }: Reviews): z.input<typeof ReviewsObject> => ({
  required: isRequired,
  data: open.map(({ id, requested_by, change, approved, date_added, date_expires }) => ({
    id,
    requested_by,
    change: JSON.parse(change),
    approved: approved === null ? null : approved === 1,
    date_added,
    date_expires,
  })),
});

const path = '/games/{game_id}/team/reviews';
const shared = { tag: 'Teams', params: GamePath, returns: ok(ReviewsObject) } as const;
const NOT_FOUND = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_ADMIN_PERMISSION'] as const;

export const getPermissionReviews = operation({
  ...shared,
  id: 'get-permission-reviews',
  method: 'GET',
  path,
  says: 'Lists the changes of permissions that wait for a second administrator, or are decided but not made yet. For administrators of the game.',
  access: user('read', 'team'),
  errors: NOT_FOUND,
  handle: async (app, { caller, params }) => toReviews(await reviewsOf(app, caller, params.game_id)),
});

export const setPermissionReviews = operation({
  ...shared,
  id: 'set-permission-reviews',
  method: 'PUT',
  path,
  says: 'Requires a second administrator for sensitive changes: granting or revoking administrator rights, transferring the game, a new API key. Ending this requirement is a sensitive change too. For administrators of the game.',
  access: user('write', 'team'),
  body: z.object({ required: z.boolean() }),
  errors: [...NOT_FOUND, 'PERMISSION_CHANGE_PENDING_REVIEW'],
  handle: async (app, { caller, params, body }) => {
    await setReviewing(app, caller, params.game_id, body.required);
    return toReviews(await reviewsOf(app, caller, params.game_id));
  },
});

export const decidePermissionReview = operation({
  id: 'decide-permission-review',
  tag: 'Teams',
  method: 'POST',
  path: `${path}/{review_id}`,
  says: 'Approves or refuses a change that another administrator requested. The requester makes an approved change by sending the same request again.',
  access: user('write', 'team'),
  ends: ['games'],
  params: GamePath.extend({ review_id: PathId }),
  body: z.object({ approved: z.boolean() }),
  returns: noContent,
  errors: [...NOT_FOUND, 'USER_ADMIN_CANT_MODERATE_SELF', 'MODERATION_ALREADY_ACTIONED'],
  handle: (app, { caller, params, body }) =>
    decideReview(app, caller, { gameId: params.game_id, id: params.review_id, approved: body.approved }),
});

export const reviewOperations = [getPermissionReviews, setPermissionReviews, decidePermissionReview];
