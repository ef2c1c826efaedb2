import { z } from 'zod';
import { PLAN_REFUSALS } from '../../catalogue/plans/plans.ts';
import { anyone, user } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { GamePath, PathId, pageOf, pageOfAll, pagesOnly } from '../../platform/http/objects.ts';
import { Bytes, Created, created, noContent, ok, operation, storedFile } from '../../platform/http/operation.ts';
import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';
import { findLive } from '../builds/builds.ts';
import {
  claimNext,
  failClaimed,
  finishClaimed,
  report,
  requireClaimed,
  sourceOfClaim,
  uploaderOf,
} from '../cooks/claims.ts';
import { LogLines, Metadata, ModfileCookObject, toModfileCook } from '../cooks/object.ts';
import { FILEDATA, INCOMING_ERRORS, incomingOf } from '../modfiles/incoming.ts';
import { completeUpload } from '../uploads/completion.ts';
import {
  MultipartUploadObject,
  MultipartUploadPartObject,
  PART_BODY,
  PART_HEADERS,
  toMultipartUpload,
  toMultipartUploadPart,
} from '../uploads/object.ts';
import { receivePart } from '../uploads/parts.ts';
import { COMPLETION_REFUSALS, OPENING_REFUSALS, PART_REFUSALS } from '../uploads/refusals.ts';
import { createUpload, listParts } from '../uploads/uploads.ts';
import {
  CookReportTakenObject,
  CookRunnerObject,
  CookRunnerSecretObject,
  NextCookObject,
  toCookClaim,
  toCookReportTaken,
  toCookRunner,
  toCookRunnerSecret,
} from './object.ts';
import { addRunner, listRunners, requireRunner, revokeRunner } from './runners.ts';

const WAIT_SECONDS_MAX = 20;
const ZIP = 'application/zip';
const REFUSALS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_ADMIN_PERMISSION'] as const;
/** The errors for an unknown or revoked secret, and those of the cook’s mod. */
const RUNNER_REFUSALS = ['TOKEN_EXPIRED_OR_REVOKED'] as const;
const MOD_REFUSALS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;
const UPLOADER_REFUSALS = [
  'MODFILE_NO_UPLOAD_PERMISSION',
  'MOD_NO_UPLOAD_PERMISSION_BY_ADMIN',
  ...PLAN_REFUSALS,
] as const;
const CLAIM = '/cook-runner/claims/{claim_id}';
const ClaimPath = z.object({ claim_id: z.string().trim().toLowerCase().pipe(z.uuid()) });
const UploadQuery = z.object({
  upload_id: z.string().min(1).meta({ description: 'The id of this claim’s upload session.' }),
});

const Platforms = z
  .array(z.string().trim().toLowerCase().pipe(z.enum(PLATFORMS)))
  .min(1)
  .max(PLATFORMS.length);

export const getCookRunners = operation({
  id: 'get-cook-runners',
  tag: 'Cook Runners',
  method: 'GET',
  path: '/games/{game_id}/cook-runners',
  says: 'Lists the machines that cook sources of mods for locked platforms. Allowed for the game’s team.',
  access: user('read', 'team'),
  params: GamePath,
  list: pagesOnly,
  returns: ok(pageOf(CookRunnerObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NO_MODERATE_PERMISSION'],
  handle: async (app, { caller, params, list }) =>
    pageOfAll((await listRunners(app, caller, params.game_id)).map(toCookRunner), list),
});

export const addCookRunner = operation({
  id: 'add-cook-runner',
  tag: 'Cook Runners',
  method: 'POST',
  path: '/games/{game_id}/cook-runners',
  says: 'Adds a machine of the studio that cooks for some platforms of a game. The response contains its secret, which is shown only once. Allowed for administrators of the game.',
  access: user('write', 'team'),
  params: GamePath,
  body: z.object({ name: z.string().trim().min(1).max(80), platforms: Platforms }),
  once: true,
  returns: created(CookRunnerSecretObject),
  errors: REFUSALS,
  handle: async (app, { caller, params, body }) => {
    const added = await addRunner(app, caller, params.game_id, body);
    return new Created(
      toCookRunnerSecret(added),
      `${app.addresses.gameApi(params.game_id)}/games/${params.game_id}/cook-runners/${added.runner.id}`,
    );
  },
});

export const deleteCookRunner = operation({
  id: 'delete-cook-runner',
  tag: 'Cook Runners',
  method: 'DELETE',
  path: '/games/{game_id}/cook-runners/{runner_id}',
  says: 'Revokes a runner. Its cooks return to the queue. Allowed for administrators of the game.',
  access: user('write', 'team'),
  params: GamePath.extend({ runner_id: PathId }),
  returns: noContent,
  errors: REFUSALS,
  handle: (app, { caller, params }) => revokeRunner(app, caller, params.game_id, params.runner_id),
});

type Basic = { readonly basic: { readonly password: string } | undefined };

/** The secret is the password of `Authorization: Basic …`; the user name is ignored. */
const runnerOf = (app: App, { basic }: Basic) => requireRunner(app, basic?.password);

export const claimCook = operation({
  id: 'claim-cook',
  tag: 'Cook Runners',
  method: 'POST',
  path: '/cook-runner/claims',
  says: 'Claims the next cook for one of the runner’s platforms. The runner authenticates by `Authorization: Basic` with its secret as the password. No other runner gets the cook while this one reports in time.',
  access: anyone(),
  unlocked: 'locks the claimed cook, which is deleted with its mod',
  body: z.object({
    wait: z
      .int()
      .min(0)
      .max(WAIT_SECONDS_MAX)
      .default(0)
      .meta({ description: 'How many seconds to wait if there is no cook yet.' }),
    platforms: Platforms.optional().meta({ description: 'Some of the runner’s platforms. Default: all of them.' }),
  }),
  emptyBody: true,
  json: true,
  returns: ok(NextCookObject),
  errors: [...RUNNER_REFUSALS, 'MODFILE_NOT_FOUND'],
  handle: async (app, { basic, body }) => {
    const runner = await runnerOf(app, { basic });
    const platforms = runner.platforms.filter((platform) => body.platforms?.some((each) => each === platform) ?? true);
    const cook = await claimNext(app, { ...runner, platforms }, body.wait * 1_000);
    if (!cook) return { claim: null };
    const source = await sourceOfClaim(app, runner, cook.claim!);
    return { claim: toCookClaim(app, { cook, source, build: await findLive(app, runner.game_id) }) };
  },
});

export const reportCook = operation({
  id: 'report-cook',
  tag: 'Cook Runners',
  method: 'POST',
  path: CLAIM,
  says: 'Reports that the runner continues with a cook, which extends its lease by two minutes, and can add progress and log lines. A runner that has lost the cook, for instance because it was cancelled, gets 404 and has to stop.',
  access: anyone(),
  unlocked: 'locks the claimed cook, which is deleted with its mod',
  params: ClaimPath,
  body: z.object({
    progress: z.int().min(0).max(100).optional().meta({ description: 'In percent.' }),
    logs: LogLines.optional(),
    metadata: Metadata.optional(),
  }),
  emptyBody: true,
  json: true,
  returns: ok(CookReportTakenObject),
  errors: RUNNER_REFUSALS,
  handle: async (app, { basic, params, body }) => {
    const runner = await runnerOf(app, { basic });
    return toCookReportTaken(app, await report(app, runner, params.claim_id, body));
  },
});

export const failCook = operation({
  id: 'fail-cook',
  tag: 'Cook Runners',
  method: 'POST',
  path: `${CLAIM}/failure`,
  says: 'Reports that a cook failed. With `again` it returns to the queue, for at most three attempts in all.',
  access: anyone(),
  unlocked: 'locks the claimed cook, which is deleted with its mod',
  params: ClaimPath,
  body: z.object({
    again: z.boolean().default(false).meta({ description: 'The machine caused the failure, not the source.' }),
    logs: LogLines.optional(),
    metadata: Metadata.optional(),
  }),
  emptyBody: true,
  json: true,
  returns: ok(ModfileCookObject),
  errors: RUNNER_REFUSALS,
  handle: async (app, { basic, params, body }) => {
    const runner = await runnerOf(app, { basic });
    return toModfileCook({ cook: await failClaimed(app, runner, params.claim_id, body), logs: [] });
  },
});

export const finishCook = operation({
  id: 'finish-cook',
  tag: 'Cook Runners',
  method: 'POST',
  path: `${CLAIM}/result`,
  says: 'Adds the result of a cook, from the request or from a multipart upload. It becomes a file of the mod for the cook’s platform, and is inspected, scanned and approved like any other.',
  access: anyone(),
  unlocked: 'locks the claimed cook, which is deleted with its mod',
  params: ClaimPath,
  body: z.object({
    upload_id: z.string().trim().toLowerCase().optional().meta({ description: 'Instead of `filedata`.' }),
    filehash: z
      .string()
      .regex(/^[0-9a-f]{32}$/i)
      .optional()
      .meta({ description: 'The MD5 of the file.' }),
    version: z.string().trim().max(50).optional().meta({ description: 'Default: that of the source.' }),
    changelog: z.string().max(50_000).optional().meta({ description: 'Default: that of the source.' }),
    metadata_blob: z.string().max(50_000).optional(),
  }),
  files: { filedata: FILEDATA },
  returns: ok(ModfileCookObject),
  errors: [...RUNNER_REFUSALS, ...MOD_REFUSALS, ...UPLOADER_REFUSALS, 'MODFILE_NOT_FOUND', ...INCOMING_ERRORS],
  handle: async (app, { basic, params, body: { upload_id: uploadId, ...texts }, files }) => {
    const runner = await runnerOf(app, { basic });
    const incoming = incomingOf(files, uploadId);
    return toModfileCook({ cook: await finishClaimed(app, runner, params.claim_id, incoming, texts), logs: [] });
  },
});

export const downloadCookSource = operation({
  id: 'download-cook-source',
  tag: 'Cook Runners',
  method: 'GET',
  path: `${CLAIM}/source`,
  says: 'Downloads the source of a cook, whole or in ranges.',
  access: anyone(),
  params: ClaimPath,
  returns: storedFile(ZIP),
  errors: [...RUNNER_REFUSALS, 'MODFILE_NOT_FOUND'],
  handle: async (app, { basic, params }) => {
    const file = await sourceOfClaim(app, await runnerOf(app, { basic }), params.claim_id);
    const { storage_key: key, filesize: bytes, sha256, filename, date_added: dateModified } = file;
    return new Bytes({ key, bytes, sha256, filename, type: ZIP, dateModified });
  },
});

export const downloadCookBuild = operation({
  id: 'download-cook-build',
  tag: 'Cook Runners',
  method: 'GET',
  path: `${CLAIM}/build`,
  says: 'Downloads the build that the studio uploaded for its runners, whole or in ranges.',
  access: anyone(),
  params: ClaimPath,
  returns: storedFile(ZIP),
  errors: RUNNER_REFUSALS,
  handle: async (app, { basic, params }) => {
    const runner = await runnerOf(app, { basic });
    await requireClaimed(app.db, runner, params.claim_id);
    const build = await findLive(app, runner.game_id);
    if (!build) throw new ApiError('RESOURCE_NOT_FOUND');
    const { storage_key: key, total: bytes, sha256, filename, date_updated: dateModified } = build;
    return new Bytes({ key: key!, bytes, sha256, filename, type: ZIP, dateModified });
  },
});

/** The caller and the mod of a runner’s uploads. */
async function uploadingOf(app: App, basic: Basic['basic'], claim: string) {
  const runner = await runnerOf(app, { basic });
  const { game_id: gameId, mod_id: modId } = await requireClaimed(app.db, runner, claim);
  return { caller: uploaderOf(runner), which: { gameId, modId } };
}

export const openCookUpload = operation({
  id: 'open-cook-upload',
  tag: 'Cook Runners',
  method: 'POST',
  path: `${CLAIM}/multipart`,
  says: 'Opens a session to upload a result of up to 20 GB in parts. A claim has one session; a repeated request returns it.',
  access: anyone(),
  unlocked: 'locks the claimed cook, which is deleted with its mod',
  params: ClaimPath,
  returns: ok(MultipartUploadObject),
  errors: [...RUNNER_REFUSALS, ...MOD_REFUSALS, ...UPLOADER_REFUSALS, ...OPENING_REFUSALS],
  handle: async (app, { basic, params: { claim_id } }) => {
    const { caller, which } = await uploadingOf(app, basic, claim_id);
    const file = { filename: `${claim_id}.zip`, nonce: claim_id };
    return toMultipartUpload(await createUpload(app, caller, which, file), app.clock.now());
  },
});

export const getCookUploadParts = operation({
  id: 'get-cook-upload-parts',
  tag: 'Cook Runners',
  method: 'GET',
  path: `${CLAIM}/multipart`,
  says: 'Lists the complete parts of a result, so that the runner can resume the upload.',
  access: anyone(),
  params: ClaimPath,
  query: UploadQuery,
  returns: ok(z.object({ parts: z.array(MultipartUploadPartObject) }).meta({ id: 'CookUploadParts' })),
  errors: [...RUNNER_REFUSALS, ...MOD_REFUSALS, 'MULTIPART_UPLOAD_IDENTIFIER_INVALID'],
  handle: async (app, { basic, params, query }) => {
    const { caller, which } = await uploadingOf(app, basic, params.claim_id);
    const parts = await listParts(app, caller, { ...which, uploadId: query.upload_id.toLowerCase() });
    return { parts: parts.map(toMultipartUploadPart) };
  },
});

export const addCookUploadPart = operation({
  id: 'add-cook-upload-part',
  tag: 'Cook Runners',
  method: 'PUT',
  path: `${CLAIM}/multipart`,
  says: 'Uploads a part of a result, in any order: 52,428,800 bytes, or less if it is the last.',
  access: anyone(),
  unlocked: 'locks the claimed cook, which is deleted with its mod',
  params: ClaimPath,
  query: UploadQuery,
  headers: PART_HEADERS,
  raw: PART_BODY,
  returns: ok(MultipartUploadPartObject),
  errors: [...RUNNER_REFUSALS, ...MOD_REFUSALS, ...UPLOADER_REFUSALS, ...PART_REFUSALS],
  handle: async (app, { basic, params, query, headers, raw }) => {
    const { caller, which } = await uploadingOf(app, basic, params.claim_id);
    const named = { ...which, uploadId: query.upload_id.toLowerCase() };
    const sent = { contentRange: headers['content-range'], digest: headers['digest'], ...raw };
    return toMultipartUploadPart(await receivePart(app, caller, named, sent));
  },
});

export const completeCookUpload = operation({
  id: 'complete-cook-upload',
  tag: 'Cook Runners',
  method: 'POST',
  path: `${CLAIM}/multipart/complete`,
  says: 'Assembles all parts into one file. Its `upload_id` is then sent as the result.',
  access: anyone(),
  unlocked: 'locks the claimed cook, which is deleted with its mod',
  params: ClaimPath,
  query: UploadQuery,
  returns: ok(MultipartUploadObject),
  errors: [...RUNNER_REFUSALS, ...MOD_REFUSALS, ...UPLOADER_REFUSALS, ...COMPLETION_REFUSALS],
  handle: async (app, { basic, params, query }) => {
    const { caller, which } = await uploadingOf(app, basic, params.claim_id);
    const done = await completeUpload(app, caller, { ...which, uploadId: query.upload_id.toLowerCase() });
    return toMultipartUpload(done, app.clock.now());
  },
});

export const runnerOperations = [
  getCookRunners,
  addCookRunner,
  deleteCookRunner,
  claimCook,
  reportCook,
  failCook,
  finishCook,
  downloadCookSource,
  downloadCookBuild,
  openCookUpload,
  getCookUploadParts,
  addCookUploadPart,
  completeCookUpload,
];
