import { z } from 'zod';
import { requireVisibleUser } from '../../people/users/profile.ts';
import {
  type Caller,
  contentReader,
  reader,
  type UserCaller,
  user,
  userOrService,
} from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { GamePath, ModPath, pageOf, pageOfJson, UserPath } from '../../platform/http/objects.ts';
import { Created, created, type Input, Json, noContent, ok, operation } from '../../platform/http/operation.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import { linksChangeAt } from '../live-files/links.ts';
import { PlatformStatusQuery } from '../live-files/object.ts';
import { PLAN_REFUSALS } from '../plans/plans.ts';
import { isModVisibleToClass, requireModDocument, requireSingleMod } from './access.ts';
import { bodiesIn, ModChangesBody, NewModBody, toModChanges } from './changes.ts';
import { deleteMod, deleteModForEver, editMod, submitMod } from './editing.ts';
import { modListing } from './listing.ts';
import { listModsOfAuthor, listModsOfGame, listModsOfMember, pageOfGame, type StoredMod } from './mods.ts';
import { ModObject, modJson } from './object.ts';
import { type SingleMod, singleModJson } from './single.ts';

const LOGO = { bytesMax: 8 * 1_024 * 1_024, says: 'PNG, JPEG, GIF or WebP of at least 512 by 288 pixels.' };

export const getMods = operation({
  id: 'get-mods',
  tag: 'Mods',
  method: 'GET',
  path: '/games/{game_id}/mods',
  says: 'Lists the public mods of a game (where the game sells, only free ones unless `revenue_type` is 1, paid, or 2, both); for a platform, where the game has platforms, those that are live on it. Filters by `status` and `visible` also find mods of the caller’s own teams that are not public; operators other than `=` and `-in` are for the game’s team.',
  access: contentReader(),
  params: GamePath,
  query: PlatformStatusQuery,
  list: modListing,
  returns: ok(pageOf(ModObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_FILTER_ADMIN_ONLY'],
  handle: async (app, { caller, params, query, list, language, platform, portal, cache, cacheUntil }) => {
    const on = { platform, platformStatus: query.platform_status };
    cache(`games/${params.game_id}/mods`, `games/${params.game_id}`, 'users');
    cacheUntil(linksChangeAt(app.clock.now()));
    // Display names of a portal are not in the documents from which the database assembles a page.
    if (portal === undefined) {
      const { text, checksum } = await pageOfGame(app, caller, params.game_id, list, language, on);
      return new Json(text, { checksum });
    }
    const { mods, total } = await listModsOfGame(app, caller, params.game_id, list, language, on);
    return pageOfMods(app, mods, total, list, portal);
  },
});

/** What the resource of offers refuses. */
const OFFER_ERRORS = [
  'MONETIZATION_MARKETPLACE_ERROR',
  'MONETIZATION_GAME_PARTNER_NOT_APPROVED',
  'MONETIZATION_SITE_MONETIZATION_DISABLED',
  'MONETIZATION_GAME_MONETIZATION_DISABLED',
  'MONETIZATION_MOD_MONETIZATION_DISABLED',
  'MONETIZATION_SITE_MARKETPLACE_DISABLED',
  'MONETIZATION_GAME_MARKETPLACE_DISABLED',
  'MONETIZATION_USER_MONETIZATION_DISABLED',
  'MONETIZATION_TERMS_NOT_ACCEPTED',
  'MONETIZATION_MARKETPLACE_QUEUE_ENABLED',
  'MOD_SUPPLY_NO_EDIT_PERMISSION',
  'MOD_SUPPLY_CANNOT_BE_SOLD',
  'MOD_SUPPLY_CANNOT_BE_TRADED',
  'MOD_SUPPLY_PAYPAL_REQUIRED',
  'MOD_CANNOT_CONTROL_SUPPLY_AND_SCARCITY',
  'MOD_SUPPLY_CANNOT_HAVE_LIMITED_STOCK',
] as const;

export const getUserMods = operation({
  id: 'get-user-mods',
  tag: 'Me',
  method: 'GET',
  path: '/me/mods',
  says: 'Lists the mods whose team the user belongs to, including hidden and unaccepted ones, and with `status=3` the deleted ones.',
  access: user('read'),
  query: PlatformStatusQuery,
  list: modListing,
  returns: ok(pageOf(ModObject)),
  errors: [],
  handle: async (app, { caller, query, list, language, platform, portal }) => {
    const on = { platform, platformStatus: query.platform_status };
    const { mods, total } = await listModsOfMember(app, caller.userId, list, language, on);
    return pageOfMods(app, mods, total, list, portal);
  },
});

export const getModsOfUser = operation({
  id: 'get-mods-of-user',
  tag: 'Users',
  method: 'GET',
  path: '/users/{user_id}/mods',
  says: 'Lists the public mods that a user has submitted, in all public games.',
  access: reader(),
  params: UserPath,
  list: modListing,
  returns: ok(pageOf(ModObject)),
  errors: ['USER_NOT_FOUND', 'USER_ACCOUNT_PRIVATE'],
  handle: async (app, { caller, params, list, language, platform, portal }) => {
    await requireVisibleUser(app, caller, params.user_id);
    const { mods, total } = await listModsOfAuthor(app, caller, params.user_id, list, language, { platform });
    return pageOfMods(app, mods, total, list, portal);
  },
});

export const getMod = operation({
  id: 'get-mod',
  tag: 'Mods',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}',
  says: 'Shows one mod. A mod that is hidden or not accepted is visible to its own team, the team of its game, its subscribers and its previewers.',
  access: contentReader(),
  params: ModPath,
  returns: ok(ModObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED', 'MOD_NO_VIEW_PERMISSION'],
  handle: (app, input) => {
    input.cacheUntil(linksChangeAt(app.clock.now()));
    return input.portal === undefined ? modAlone(app, input) : modOnPortal(app, input);
  },
});

type ModInput = Input<z.output<typeof ModPath>, unknown, unknown>;

function modAlone(app: App, { caller, params, language, platform, cache }: ModInput): Json | Promise<Json> {
  const answer = (mod: SingleMod) => {
    if (isModVisibleToClass(caller, mod))
      cache(`mods/${params.mod_id}`, `games/${params.game_id}`, `users/${mod.submitted_by}`);
    const { text, ...known } = singleModJson(app, params.mod_id, mod);
    return new Json(text, known);
  };
  const found = requireSingleMod(app, caller, params.game_id, params.mod_id, language, platform);
  return found instanceof Promise ? found.then(answer) : answer(found);
}

async function modOnPortal(app: App, { caller, params, language, platform, portal, cache }: ModInput): Promise<Json> {
  const mod = await requireModDocument(app.db, caller, params.game_id, params.mod_id, language, platform);
  if (isModVisibleToClass(caller, { status: mod.mod_status, visible: mod.mod_visible }))
    cache(`mods/${mod.mod_id}`, `games/${mod.game_id}`, `users/${mod.id}`);
  return new Json(modJson(app, mod, { alone: true, portal }));
}

export const addModOperation = operation({
  id: 'add-mod',
  tag: 'Mods',
  method: 'POST',
  path: '/games/{game_id}/mods',
  says: 'Adds a mod to a game. It can be accepted once it has a file.',
  access: user('write'),
  params: GamePath,
  body: NewModBody,
  ownBody: async (app, caller, { game_id }) => (await bodiesIn(app, caller, game_id)).added,
  files: { logo: { ...LOGO, required: true } },
  rules: true,
  once: true,
  returns: created(ModObject),
  errors: [
    'RULES_BASED_MODERATION_FAILURE',
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'MOD_NO_UPLOAD_PERMISSION_BY_ADMIN',
    ...PLAN_REFUSALS,
    'MOD_NO_MATURITY_ALLOWED_BY_GAME',
    ...OFFER_ERRORS,
    'GAME_TAGS_NO_OPTIONS_SET',
    'MOD_TAGS_NO_ADD_PERMISSION',
  ],
  handle: async (app, { caller, params, body, files, language, contentLanguage, portal }) => {
    const sent = { fields: toModChanges(body), logo: files['logo'], written: contentLanguage, answered: language };
    const mod = await submitMod(app, caller, params.game_id, sent);
    const address = `${app.addresses.gameApi(mod.game_id)}/games/${mod.game_id}/mods/${mod.mod_id}`;
    return new Created(new Json(modJson(app, mod, { alone: true, portal })), address);
  },
});

const edited = {
  tag: 'Mods',
  path: '/games/{game_id}/mods/{mod_id}',
  access: userOrService('write', 'update'),
  ends: ['mods'],
  params: ModPath,
  body: ModChangesBody,
  ownBody: async (app: App, caller: Caller, { game_id }: z.output<typeof ModPath>) =>
    (await bodiesIn(app, caller, game_id)).changed,
  files: { logo: LOGO },
  rules: true,
  returns: ok(ModObject),
  errors: [
    'RULES_BASED_MODERATION_FAILURE',
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'MOD_NOT_FOUND',
    'MOD_DELETED',
    'MOD_NO_UPDATE_PERMISSION',
    'MOD_NO_MATURITY_EDIT_PERMISSION',
    'MOD_NO_MATURITY_ALLOWED_BY_GAME',
    'MOD_NO_MODERATION_PERMISSION',
    'MOD_CANNOT_BE_ACCEPTED_WITHOUT_MODFILE',
    'GAME_TAGS_NO_OPTIONS_SET',
    'MOD_TAGS_NO_ADD_PERMISSION',
    'MOD_NO_DELETE_PERMISSION',
    'MOD_CANNOT_DELETE_MONETISED',
    'MOD_CANNOT_DELETE_PURCHASED',
    'MOD_NO_DELETE_PERMISSION_HAS_POTENTIAL_OWNERS',
    'MOD_ADMIN_STATUS_UPDATE_USER_NOT_ADMIN',
    ...PLAN_REFUSALS,
    'PREVIEW_CANNOT_ENABLE_RESOURCE_IS_PUBLIC',
    ...OFFER_ERRORS,
  ],
  handle: answerEdit,
} as const;

export const editModOperation = operation({
  ...edited,
  id: 'edit-mod',
  method: 'POST',
  says: 'Changes a mod. For managers and administrators of its team or its game; only the game’s team changes its status.',
});

export const editModByPut = operation({
  ...edited,
  id: 'edit-mod-put',
  method: 'PUT',
  says: 'Changes a mod, as `POST` does. Some clients send this method.',
});

export const deleteModOperation = operation({
  id: 'delete-mod',
  tag: 'Mods',
  method: 'DELETE',
  path: '/games/{game_id}/mods/{mod_id}',
  says: 'Deletes a mod. For administrators of its team and the team of its game, unless other mods depend on it and the game restricts dependencies. Administrators of the game can restore it until it is deleted permanently.',
  access: user('write'),
  ends: ['mods'],
  params: ModPath,
  body: z.object({
    permanent: z.boolean().default(false).meta({
      description:
        'Removes a deleted mod permanently, with everything that belongs to it. For administrators of its team or its game.',
    }),
  }),
  returns: noContent,
  errors: [
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'MOD_NOT_FOUND',
    'MOD_DELETED',
    'MOD_NO_DELETE_PERMISSION',
    'MOD_NO_PERMANENT_DELETE_MUST_SOFT_DELETE_FIRST',
    'MOD_NO_DELETE_PERMISSION_HAS_SUBSCRIBERS',
    'MOD_CANNOT_DELETE_MONETISED',
    'MOD_CANNOT_DELETE_PURCHASED',
    'MOD_NO_DELETE_PERMISSION_HAS_POTENTIAL_OWNERS',
  ],
  handle: (app, { caller, params, body }) =>
    (body.permanent ? deleteModForEver : deleteMod)(app, caller, params.game_id, params.mod_id),
});

async function answerEdit(
  app: App,
  input: Input<z.output<typeof ModPath>, unknown, z.output<typeof ModChangesBody>, UserCaller>,
): Promise<Json> {
  const { caller, params, body, files, language, contentLanguage, portal } = input;
  const sent = { fields: toModChanges(body), logo: files['logo'], written: contentLanguage, answered: language };
  const mod = await editMod(app, caller, params.game_id, params.mod_id, sent);
  return new Json(modJson(app, mod, { alone: true, portal }));
}

const pageOfMods = (
  app: App,
  mods: readonly StoredMod[],
  total: number,
  list: { limit: number; offset: number },
  portal: Portal | undefined,
) =>
  pageOfJson(
    mods.map((mod) => modJson(app, mod, { portal })),
    total,
    list,
  );

export const modOperations = [
  getMods,
  getModsOfUser,
  getUserMods,
  getMod,
  addModOperation,
  editModOperation,
  editModByPut,
  deleteModOperation,
];
