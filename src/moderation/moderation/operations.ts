import { z } from 'zod';
import { PLAN_REFUSALS } from '../../catalogue/plans/plans.ts';
import { user } from '../../platform/access/caller.ts';
import { GamePath, Id, PathId, page, pageOf } from '../../platform/http/objects.ts';
import { eventStream, noContent, ok, operation, Stream } from '../../platform/http/operation.ts';
import { CLAIM_SECONDS, CLAIMS_AT_ONCE, claim, claimNext, release } from './claims.ts';
import { MODERATED } from './content.ts';
import { ACTIONS, decide } from './decisions.ts';
import { type QueueState, watchQueue } from './live.ts';
import {
  ClaimObject,
  ContentChangesObject,
  ModerationStateObject,
  PendingFileObject,
  QueuedObject,
  StatisticsObject,
  toClaim,
  toQueued,
  toState,
  toStatistics,
} from './object.ts';
import {
  appeal,
  changesOf,
  fileListing,
  listPendingFiles,
  listPendingFilesOfSite,
  listQueue,
  listQueueOfSite,
  queueListing,
  stateOf,
} from './queues.ts';
import { statisticsOf } from './statistics.ts';
import { undoDecision } from './undo.ts';

const OF_GAME = ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NO_MODERATE_PERMISSION'] as const;
const Moderated = z.enum(MODERATED);
const ContentPath = GamePath.extend({ content: Moderated, content_id: PathId });

/** The content of a decision, if it is of this resource. */
const decided =
  (kind: (typeof MODERATED)[number]) =>
  ({ body }: { readonly body: { readonly resource: string; readonly id: number } }) =>
    body.resource === kind ? [body.id] : [];

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
  says: 'Decides on a mod, guide, collection or comment that no other moderator has claimed. Its author is notified of the reason, and its open reports are resolved. Allowed for the game’s team.',
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
    'MODERATION_CLAIMED',
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
    return toState(await stateOf(app, caller, game_id, content, content_id));
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

/** The content in the path, if it is of this resource. */
const inPath =
  (kind: (typeof MODERATED)[number]) =>
  ({ params }: { readonly params: z.output<typeof ContentPath> }) =>
    params.content === kind ? [params.content_id] : [];

export const undoModerationDecision = operation({
  id: 'undo-moderation-decision',
  tag: 'Moderation',
  method: 'DELETE',
  path: '/games/{game_id}/moderation/{content}/{content_id}/decision',
  says: 'Undoes the caller’s own decision within a minute, if nothing has happened to the content since. Its reports open again, and its author gets no mail. Allowed for the game’s team.',
  access: user('write', 'team'),
  ends: [...MODERATED],
  names: {
    mods: inPath('mods'),
    guides: inPath('guides'),
    collections: inPath('collections'),
    comments: inPath('comments'),
  },
  params: ContentPath,
  returns: noContent,
  errors: [...OF_GAME, 'MODERATION_NOT_FOUND', 'MODERATION_ALREADY_ACTIONED', ...PLAN_REFUSALS],
  handle: (app, { caller, params: { game_id, content, content_id } }) =>
    undoDecision(app, caller, game_id, { resource: content, id: content_id }),
});

export const claimContent = operation({
  id: 'claim-moderated-content',
  tag: 'Moderation',
  method: 'PUT',
  path: '/games/{game_id}/moderation/{content}/{content_id}/claim',
  says: `Claims content for ${CLAIM_SECONDS / 60} minutes, or renews the claim: no other moderator can decide on it. Allowed for the game’s team.`,
  access: user('write', 'team'),
  params: ContentPath,
  returns: ok(ClaimObject),
  errors: [...OF_GAME, 'MODERATION_NOT_FOUND', 'MODERATION_CLAIMED'],
  handle: async (app, { caller, params: { game_id, content, content_id } }) =>
    toClaim(await claim(app, caller, game_id, { resource: content, id: content_id })),
});

export const releaseContent = operation({
  id: 'release-moderated-content',
  tag: 'Moderation',
  method: 'DELETE',
  path: '/games/{game_id}/moderation/{content}/{content_id}/claim',
  says: 'Ends a claim of the caller; administrators of the game end those of others, too. Allowed for the game’s team.',
  access: user('write', 'team'),
  params: ContentPath,
  returns: noContent,
  errors: [...OF_GAME, 'MODERATION_NOT_FOUND', 'MODERATION_CLAIMED'],
  handle: (app, { caller, params: { game_id, content, content_id } }) =>
    release(app, caller, game_id, { resource: content, id: content_id }),
});

export const claimNextContent = operation({
  id: 'claim-next-moderated-content',
  tag: 'Moderation',
  method: 'POST',
  path: '/games/{game_id}/moderation/claims',
  says: 'Claims the oldest pending content that no other moderator has claimed, up to `count` together with the caller’s own claims, which are renewed. Allowed for the game’s team.',
  access: user('write', 'team'),
  params: GamePath,
  body: z.object({
    count: z.int().min(1).max(CLAIMS_AT_ONCE).default(10),
    resource: Moderated.optional(),
  }),
  returns: ok(z.object({ data: z.array(ClaimObject) }).meta({ id: 'ModerationClaims' })),
  errors: OF_GAME,
  handle: async (app, { caller, params, body: { count, resource } }) => ({
    data: (await claimNext(app, caller, params.game_id, { count, resource })).map(toClaim),
  }),
});

export const getContentChanges = operation({
  id: 'get-moderated-content-changes',
  tag: 'Moderation',
  method: 'GET',
  path: '/games/{game_id}/moderation/{content}/{content_id}/changes',
  says: 'Shows the fields of a mod, guide or collection that have changed since the last decision on it, with both texts. Comments have none. Allowed for the game’s team.',
  access: user('read', 'team'),
  params: ContentPath,
  returns: ok(ContentChangesObject),
  errors: [...OF_GAME, 'MODERATION_NOT_FOUND'],
  handle: async (app, { caller, params: { game_id, content, content_id } }) => {
    const { dateDecided, ...rest } = await changesOf(app, caller, game_id, content, content_id);
    return { ...rest, date_decided: dateDecided };
  },
});

export const getModerationStatistics = operation({
  id: 'get-moderation-statistics',
  tag: 'Moderation',
  method: 'GET',
  path: '/games/{game_id}/moderation/stats',
  says: 'Shows how much waits in a game and for how long, and how many decisions its moderators have made in the last 30 days. Allowed for its team.',
  access: user('read', 'team'),
  params: GamePath,
  returns: ok(StatisticsObject),
  errors: OF_GAME,
  handle: async (app, { caller, params }) => toStatistics(await statisticsOf(app, caller, params.game_id)),
});

async function* textOf(states: AsyncIterable<QueueState>): AsyncGenerator<string> {
  for await (const state of states) yield `event: queue\ndata: ${JSON.stringify(state)}\n\n`;
}

export const streamModerationQueue = operation({
  id: 'stream-game-moderation-queue',
  tag: 'Moderation',
  method: 'GET',
  path: '/games/{game_id}/moderation/stream',
  says: 'Streams how much waits in a game, is claimed and is reported as Server-Sent Events: now, and when the queue changes, at most once a second. Above 1,000 waiting items of a kind it counts no further. Allowed for the game’s team.',
  access: user('read', 'team'),
  params: GamePath,
  returns: eventStream,
  errors: OF_GAME,
  handle: async (app, { caller, params }) => {
    const states = await watchQueue(app, caller, params.game_id);
    return new Stream((signal) => textOf(states(signal)));
  },
});

export const moderationOperations = [
  getModerationQueue,
  getPendingFiles,
  getModerationQueueOfSite,
  getPendingFilesOfSite,
  decideOverContent,
  getModerationState,
  appealDecision,
  undoModerationDecision,
  claimContent,
  releaseContent,
  claimNextContent,
  getContentChanges,
  getModerationStatistics,
  streamModerationQueue,
];
