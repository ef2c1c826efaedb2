import { reader, user } from '../../platform/access/caller.ts';
import { GamePath, GuidePath, page, pageOf, pagesOnly } from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import { GuideChangesBody, NewGuideBody, toGuideChanges } from './changes.ts';
import { deleteGuide, editGuide, submitGuide } from './editing.ts';
import { guidesScope, isLive, listGuides, listTagsOfGuides, requireGuide, showGuide } from './guides.ts';
import { guideListing } from './listing.ts';
import { GuideObject, GuideTagObject, toGuide } from './object.ts';
import { countVisit } from './visits.ts';

const LOGO = { bytesMax: 8 * 1_024 * 1_024, says: 'PNG, JPEG, GIF or WebP of at least 512 by 288 pixels.' };
const OF_GAME = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GUIDE_NO_VIEW_PERMISSION'] as const;
const OF_GUIDE = [...OF_GAME, 'RESOURCE_NOT_FOUND', 'GUIDE_DELETED'] as const;

export const getGuides = operation({
  id: 'get-guides',
  tag: 'Guides',
  method: 'GET',
  path: '/games/{game_id}/guides',
  says: 'Lists the guides of a game that are live. A filter by `status` also finds the caller’s own that are not, and for the game’s team all.',
  access: reader(),
  params: GamePath,
  list: guideListing,
  returns: ok(pageOf(GuideObject)),
  errors: OF_GAME,
  handle: async (app, { caller, params, list, cache, cacheUntil, portal }) => {
    const { guides, total, isForAll, nextLive } = await listGuides(app, caller, params.game_id, list);
    // An author who is in no team shares cached responses with everyone.
    if (isForAll) cache(guidesScope(params.game_id), `games/${params.game_id}`, 'users');
    if (nextLive !== undefined) cacheUntil(nextLive);
    return page(
      guides.map((guide) => toGuide(app, guide, portal)),
      total,
      list,
    );
  },
});

export const getGuide = operation({
  id: 'get-guide',
  tag: 'Guides',
  method: 'GET',
  path: '/games/{game_id}/guides/{guide_id}',
  says: 'Shows one guide, and counts the visit: each address once a day. Only its author and the game’s team see a guide that is not live.',
  access: reader(),
  params: GuidePath,
  returns: ok(GuideObject),
  errors: OF_GUIDE,
  handle: async (app, { caller, params, ip, portal }) => {
    const guide = await requireGuide(app, app.db, caller, params.game_id, params.guide_id);
    if (isLive(app, guide)) await countVisit(app, guide, ip);
    return toGuide(app, await showGuide(app, caller, params.game_id, params.guide_id), portal);
  },
});

export const getGuidesTags = operation({
  id: 'get-guides-tags',
  tag: 'Guides',
  method: 'GET',
  path: '/games/{game_id}/guides/tags',
  says: 'Lists the tags of a game’s live guides, with the number of guides for each.',
  access: reader(),
  params: GamePath,
  list: pagesOnly,
  returns: ok(pageOf(GuideTagObject)),
  errors: OF_GAME,
  handle: async (app, { caller, params, list, cache, cacheUntil }) => {
    const { tags, total, nextLive } = await listTagsOfGuides(app, caller, params.game_id, list);
    cache(guidesScope(params.game_id), `games/${params.game_id}`);
    if (nextLive !== undefined) cacheUntil(nextLive);
    return page(tags, total, list);
  },
});

export const addGuideOperation = operation({
  id: 'add-guide',
  tag: 'Guides',
  method: 'POST',
  path: '/games/{game_id}/guides',
  says: 'Adds a guide to a game that has guides. Where the game curates its content, the guide waits for its team.',
  access: user('write'),
  params: GamePath,
  body: NewGuideBody,
  files: { logo: { ...LOGO, required: true } },
  rules: true,
  once: true,
  returns: created(GuideObject),
  errors: [
    'RULES_BASED_MODERATION_FAILURE',
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'GUIDE_NO_ADD_PERMISSION',
    'GUIDE_CONTAINS_RESERVED_TAGS',
  ],
  handle: async (app, { caller, params, body, files, portal }) => {
    const guide = await submitGuide(app, caller, params.game_id, body, files['logo']);
    const address = `${app.addresses.gameApi(guide.game_id)}/games/${guide.game_id}/guides/${guide.guide_id}`;
    return new Created(toGuide(app, guide, portal), address);
  },
});

export const editGuideOperation = operation({
  id: 'edit-guide',
  tag: 'Guides',
  method: 'POST',
  path: '/games/{game_id}/guides/{guide_id}',
  says: 'Edits a guide. Allowed for its author and managers of its game; moderators of the game change its status.',
  access: user('write'),
  ends: ['guides'],
  params: GuidePath,
  body: GuideChangesBody,
  files: { logo: LOGO },
  rules: true,
  returns: ok(GuideObject),
  errors: [
    'RULES_BASED_MODERATION_FAILURE',
    ...OF_GUIDE,
    'GUIDE_NO_UPDATE_PERMISSION',
    'GUIDE_NO_UPDATE_PERMISSION_DMCA',
    'GUIDE_NO_DELETE_PERMISSION',
    'GUIDE_NO_DELETE_PERMISSION_DMCA',
    'GUIDE_CONTAINS_RESERVED_TAGS',
  ],
  handle: async (app, { caller, params, body, files, portal }) =>
    toGuide(
      app,
      await editGuide(app, caller, params.game_id, params.guide_id, toGuideChanges(body), files['logo']),
      portal,
    ),
});

export const deleteGuideOperation = operation({
  id: 'delete-guide',
  tag: 'Guides',
  method: 'DELETE',
  path: '/games/{game_id}/guides/{guide_id}',
  says: 'Deletes a guide. Allowed for the team of its game, and for its author unless a copyright complaint is open.',
  access: user('write'),
  ends: ['guides'],
  params: GuidePath,
  returns: noContent,
  errors: [...OF_GUIDE, 'GUIDE_NO_DELETE_PERMISSION', 'GUIDE_NO_UPDATE_PERMISSION_DMCA'],
  handle: (app, { caller, params }) => deleteGuide(app, caller, params.game_id, params.guide_id),
});

export const guideOperations = [
  getGuides,
  getGuidesTags,
  getGuide,
  addGuideOperation,
  editGuideOperation,
  deleteGuideOperation,
];
