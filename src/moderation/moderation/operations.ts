import { z } from 'zod';
import { PLAN_REFUSALS } from '../../catalogue/plans/plans.ts';
import { user } from '../../platform/access/caller.ts';
import { GamePath, Id, Integer, PathId, page, pageOf, Timestamp, UserPath } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { MODERATED } from './content.ts';
import { ACTIONS, decide } from './decisions.ts';
import { setBan } from './people.ts';
import {
  appeal,
  fileListing,
  listPendingFiles,
  listPendingFilesOfSite,
  listQueue,
  listQueueOfSite,
  type QueuedItem,
  queueListing,
  stateOf,
} from './queues.ts';

const OF_GAME = ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NO_MODERATE_PERMISSION'] as const;
const STATUS = '0 not accepted, 1 accepted, 3 deleted';
const Moderated = z.enum(MODERATED);
const ContentPath = GamePath.extend({ content: Moderated, content_id: PathId });

/** The content of a decision, if it is of this resource. */
const decided =
  (kind: (typeof MODERATED)[number]) =>
  ({ body }: { readonly body: { readonly resource: string; readonly id: number } }) =>
    body.resource === kind ? [body.id] : [];

const QueuedObject = z
  .object({
    id: Id,
    game_id: Id,
    resource: z.string(),
    name: z.string().meta({ description: 'For a comment the beginning of its text' }),
    submitted_by: Id,
    status: Integer.meta({ description: STATUS }),
    is_dmca: z.boolean(),
    date_added: Timestamp,
    date_updated: Timestamp,
    decision: z.string().meta({ description: 'The last decision, such as takedown; empty if there was none' }),
    reason: z.string(),
    decided_by: Integer,
    date_decided: Timestamp,
    appeal: z.string(),
  })
  .meta({ id: 'QueuedContent' });

const toQueued = ({ dmca, action, ...row }: QueuedItem): z.input<typeof QueuedObject> => ({
  ...row,
  is_dmca: dmca === 1,
  decision: action ?? '',
  reason: row.reason ?? '',
  decided_by: row.decided_by ?? 0,
  date_decided: row.date_decided ?? 0,
  appeal: row.appeal ?? '',
});

export const getModerationQueue = operation({
  id: 'get-game-moderation-queue',
  tag: 'Moderation',
  method: 'GET',
  path: '/games/{game_id}/moderation',
  says: 'Lists the mods, guides, collections and comments that wait for the game’s team, or with `status` 3 deleted ones with the moderator and the reason. Allowed for its team.',
  access: user('read', 'team'),
  params: GamePath,
  list: queueListing,
  returns: ok(pageOf(QueuedObject)),
  errors: OF_GAME,
  handle: async (app, { caller, params, list }) => {
    const { rows, total } = await listQueue(app, caller, params.game_id, list);
    return page(rows.map(toQueued), total, list);
  },
});

const PendingFileObject = z
  .object({
    id: Id,
    game_id: Id,
    mod_id: Id,
    name: z.string().meta({ description: 'The name of the mod' }),
    platform: z.string(),
    version: z.string(),
    filename: z.string(),
    submitted_by: Id,
    date_added: Timestamp,
  })
  .meta({ id: 'PendingFile' });

export const getPendingFiles = operation({
  id: 'get-game-pending-files',
  tag: 'Moderation',
  method: 'GET',
  path: '/games/{game_id}/moderation/files',
  says: 'Lists the files that wait for approval, one row per platform. Allowed for the game’s team.',
  access: user('read', 'team'),
  params: GamePath,
  list: fileListing,
  returns: ok(pageOf(PendingFileObject)),
  errors: OF_GAME,
  handle: async (app, { caller, params, list }) => {
    const { rows, total } = await listPendingFiles(app, caller, params.game_id, list);
    return page(rows, total, list);
  },
});

export const getModerationQueueOfSite = operation({
  id: 'get-moderation-queue',
  tag: 'Moderation',
  method: 'GET',
  path: '/moderation',
  says: 'Lists the mods, guides, collections and comments of all games that wait for a decision, or with `status` 3 deleted ones with the moderator and the reason. Allowed for site administrators.',
  access: user('read', 'staff'),
  list: queueListing,
  returns: ok(pageOf(QueuedObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, list }) => {
    const { rows, total } = await listQueueOfSite(app, caller, list);
    return page(rows.map(toQueued), total, list);
  },
});

export const getPendingFilesOfSite = operation({
  id: 'get-pending-files',
  tag: 'Moderation',
  method: 'GET',
  path: '/moderation/files',
  says: 'Lists the files of all games that wait for approval, one row per platform. Allowed for site administrators.',
  access: user('read', 'staff'),
  list: fileListing,
  returns: ok(pageOf(PendingFileObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, list }) => {
    const { rows, total } = await listPendingFilesOfSite(app, caller, list);
    return page(rows, total, list);
  },
});

export const decideOverContent = operation({
  id: 'add-game-moderation-decision',
  tag: 'Moderation',
  method: 'POST',
  path: '/games/{game_id}/moderation/decisions',
  says: 'Decides on a mod, guide, collection or comment. Its author is notified of the reason, and its open reports are resolved. Allowed for the game’s team.',
  access: user('write', 'team'),
  ends: [...MODERATED],
  names: {
    mods: decided('mods'),
    guides: decided('guides'),
    collections: decided('collections'),
    comments: decided('comments'),
  },
  params: GamePath,
  body: z.object({
    resource: Moderated,
    id: Id,
    decision: z.enum(ACTIONS),
    reason: z.string().trim().max(5_000).default(''),
  }),
  returns: noContent,
  errors: [
    ...OF_GAME,
    'MODERATION_NOT_FOUND',
    'MODERATION_ALREADY_ACTIONED',
    'REPORT_NOT_FOUND',
    'REPORT_ALREADY_RESOLVED',
    'MOD_CANNOT_BE_ACCEPTED_WITHOUT_MODFILE',
    'MOD_ADMIN_STATUS_UPDATE_USER_NOT_ADMIN',
    ...PLAN_REFUSALS,
    'MOD_NO_DELETE_PERMISSION',
    'MOD_CANNOT_DELETE_MONETISED',
    'MOD_CANNOT_DELETE_PURCHASED',
    'MOD_NO_DELETE_PERMISSION_HAS_POTENTIAL_OWNERS',
  ],
  handle: (app, { caller, params, body: { decision: action, ...what } }) =>
    decide(app, caller, params.game_id, { ...what, action }),
});

const ModerationStateObject = z
  .object({
    status: Integer.meta({ description: STATUS }),
    is_dmca: z.boolean(),
    place: Integer.meta({ description: 'The position in the queue, from 1; 0 if it does not wait' }),
    decision: z.string(),
    reason: z.string(),
    date_decided: Timestamp,
    appeal: z.string(),
    date_appealed: Timestamp,
  })
  .meta({ id: 'ModerationState' });

export const getModerationState = operation({
  id: 'get-moderation-state',
  tag: 'Moderation',
  method: 'GET',
  path: '/games/{game_id}/moderation/{content}/{content_id}',
  says: 'Shows the state of a mod, guide, collection or comment: the decisions on it with their reasons, and its position in the queue. Allowed for its authors and the game’s team.',
  access: user('read'),
  params: ContentPath,
  returns: ok(ModerationStateObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'MODERATION_NOT_FOUND'],
  handle: async (app, { caller, params }) => {
    const { game_id, content, content_id } = params;
    const { status, isDmca, place, decision } = await stateOf(app, caller, game_id, content, content_id);
    return {
      status,
      is_dmca: isDmca,
      place,
      decision: decision?.action ?? '',
      reason: decision?.reason ?? '',
      date_decided: decision?.date_added ?? 0,
      appeal: decision?.appeal ?? '',
      date_appealed: decision?.date_appealed ?? 0,
    };
  },
});

export const appealDecision = operation({
  id: 'appeal-moderation-decision',
  tag: 'Moderation',
  method: 'POST',
  path: '/games/{game_id}/moderation/{content}/{content_id}/appeal',
  says: 'Appeals against the decision on one’s own mod, guide, collection or comment, once. Denied content returns to the queue. For a mod, allowed for managers and administrators of its team.',
  access: user('write'),
  params: ContentPath,
  body: z.object({ reason: z.string().trim().min(1).max(5_000) }),
  returns: noContent,
  errors: [
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'MODERATION_NOT_FOUND',
    'MODERATION_ALREADY_ACTIONED',
    'MOD_NO_UPDATE_PERMISSION',
  ],
  handle: (app, { caller, params: { game_id, content, content_id }, body }) =>
    appeal(app, caller, game_id, { resource: content, id: content_id }, body.reason),
});

const SITE = [
  'USER_NOT_FOUND',
  'RESOURCE_NO_MODERATE_PERMISSION',
  'USER_ADMIN_CANT_MODERATE_SELF',
  'MODERATION_ALREADY_ACTIONED',
] as const;

export const banUser = operation({
  id: 'ban-user',
  tag: 'Moderation',
  method: 'PUT',
  path: '/users/{user_id}/ban',
  says: 'Bans a user from the whole site, at once. Allowed for site administrators, who cannot be banned.',
  access: user('write', 'staff'),
  ends: ['users'],
  params: UserPath,
  body: z.object({ reason: z.string().trim().min(1).max(5_000) }),
  returns: noContent,
  errors: SITE,
  handle: (app, { caller, params, body }) => setBan(app, caller, params.user_id, { banned: true, reason: body.reason }),
});

export const unbanUser = operation({
  id: 'unban-user',
  tag: 'Moderation',
  method: 'DELETE',
  path: '/users/{user_id}/ban',
  says: 'Lifts a user’s ban from the site. Allowed for site administrators.',
  access: user('write', 'staff'),
  params: UserPath,
  returns: noContent,
  errors: SITE,
  handle: (app, { caller, params }) => setBan(app, caller, params.user_id, { banned: false, reason: '' }),
});

export const moderationOperations = [
  banUser,
  unbanUser,
  getModerationQueue,
  getPendingFiles,
  getModerationQueueOfSite,
  getPendingFilesOfSite,
  decideOverContent,
  getModerationState,
  appealDecision,
];
