import { z } from 'zod';
import { anyone, user, visitor } from '../../platform/access/caller.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { GamePath, Id, Integer } from '../../platform/http/objects.ts';
import { noContent, ok, operation, type RawBody } from '../../platform/http/operation.ts';
import { reportOutside } from '../cooks/claims.ts';
import { LogLines, Metadata, ModfileCookObject, toModfileCook } from '../cooks/object.ts';
import { FILE_BYTES_MAX } from '../uploads/ranges.ts';
import { PART_REFUSALS } from '../uploads/refusals.ts';
import {
  CLOUD_COOKING,
  finalizeBuild,
  listParts,
  provisionBuild,
  putStatusOutside,
  requireBuild,
  requireNewest,
  requireSender,
} from './builds.ts';
import {
  CookBuildObject,
  CookBuildUploadObject,
  CookingSasTokenObject,
  toCookBuild,
  toCookBuildUpload,
  toCookingSasToken,
} from './object.ts';
import { receiveBuild } from './receiving.ts';

const REFUSALS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_ADMIN_PERMISSION'] as const;
const MESSAGE_BYTES_MAX = 1024 ** 2;
const BuildPath = z.object({
  build_id: z.string().trim().toLowerCase().pipe(z.uuid()),
  build_signature: z.string().regex(/^[\w-]{43}$/),
});

const addressOf = ({ build_id, build_signature }: z.output<typeof BuildPath>) => ({
  uuid: build_id,
  signature: build_signature,
});

export const cookingSasToken = operation({
  id: 'cooking-sas-token',
  tag: 'Cloud Cooking',
  method: 'POST',
  path: '/games/{game_id}/cloud-cooking/sas-token',
  says: 'Provisions a URL to which the build that the game’s runners cook with can be uploaded for seven days. It replaces an earlier URL that was not used. Allowed for administrators of the game.',
  access: user('write', 'team'),
  limit: 20,
  params: GamePath,
  returns: ok(CookingSasTokenObject),
  errors: REFUSALS,
  handle: async (app, { caller, params: { game_id } }) =>
    toCookingSasToken(
      await provisionBuild(app, caller, game_id),
      `${app.addresses.api}/games/${game_id}/cloud-cooking/webhook`,
    ),
});

export const cookingValidateBuild = operation({
  id: 'cooking-validate-build',
  tag: 'Cloud Cooking',
  method: 'GET',
  path: '/games/{game_id}/cloud-cooking/validate-build',
  says: 'Shows the state of the build that was uploaded last: whether it is complete, and what its inspection found. Allowed for administrators of the game.',
  access: user('read', 'team'),
  params: GamePath,
  returns: ok(CookBuildObject),
  errors: REFUSALS,
  handle: async (app, { caller, params, language }) =>
    toCookBuild(await requireNewest(app, caller, params.game_id), language),
});

export const finalizeCloudCooking = operation({
  id: 'finalize-cloud-cooking',
  tag: 'Cloud Cooking',
  method: 'POST',
  path: '/games/{game_id}/cloud-cooking/finalization',
  says: 'Makes the build that was uploaded last, if it is valid, the one that the game’s runners get. Allowed for administrators of the game.',
  access: user('write', 'team'),
  params: GamePath,
  returns: noContent,
  errors: [...REFUSALS, 'VALIDATION_GENERIC'],
  handle: (app, { caller, params }) => finalizeBuild(app, caller, params.game_id),
});

/** The status of a cook or of cooking as a whole, in the service’s own words. */
const CookingMessage = z.object({
  cloud_cooking_status: z
    .literal([CLOUD_COOKING.DISABLED, CLOUD_COOKING.ENABLED, CLOUD_COOKING.ACTION_REQUIRED, CLOUD_COOKING.TEARING_DOWN])
    .optional(),
  cook: z
    .object({
      cook_uuid: z.uuid(),
      status: z.enum(['cooking', 'failed']).default('cooking'),
      progress: z.int().min(0).max(100).optional(),
      logs: LogLines.optional(),
      metadata: Metadata.optional(),
    })
    .optional(),
});

async function readAll({ chunks, bytes = 0 }: RawBody): Promise<Buffer> {
  if (bytes > MESSAGE_BYTES_MAX) throw new ApiError('REQUEST_MALFORMED');
  return Buffer.concat(await Array.fromAsync(chunks));
}

function messageOf(body: Buffer): z.output<typeof CookingMessage> {
  let json: unknown;
  try {
    json = JSON.parse(body.toString());
  } catch (cause) {
    throw new ApiError('JSON_MALFORMED', { cause });
  }
  const { success, data, error } = CookingMessage.safeParse(json);
  if (success) return data;
  const fields = error.issues.map(({ path }) => ({ field: path.join('.') || 'body', rule: 'invalid' as const }));
  throw new ApiError('VALIDATION_GENERIC', { fields });
}

export const cookingWebhook = operation({
  id: 'cooking-webhook',
  tag: 'Cloud Cooking',
  method: 'POST',
  path: '/games/{game_id}/cloud-cooking/webhook',
  says: 'Receives a message of an external service about a cook that it works on, or about cooking as a whole, as JSON. The service signs its message with the secret that came with the build’s upload URL; administrators of the game need no signature.',
  access: visitor('team'),
  params: GamePath,
  headers: {
    'x-cooking-signature': {
      says: '`t=<Unix seconds>,v1=<hex>`: the HMAC-SHA256 of `t`, a dot and the body with the secret. It is valid for five minutes.',
    },
  },
  raw: {
    bytesMax: MESSAGE_BYTES_MAX,
    says: '`{"cook": {"cook_uuid", "status": "cooking" | "failed", "progress", "logs", "metadata"}, "cloud_cooking_status": 0 | 4 | 5 | 6}`, each optional.',
  },
  returns: ok(
    z
      .object({
        game_id: Id,
        cloud_cooking_status: Integer.nullable().meta({ description: 'The status from the message.' }),
        cook: ModfileCookObject.nullable(),
      })
      .meta({ id: 'CookingMessageTaken' }),
  ),
  errors: [...REFUSALS, 'TOKEN_MISSING_SCOPE_WRITE', 'JSON_MALFORMED'],
  handle: async (app, { caller, params: { game_id }, headers, raw }) => {
    const body = await readAll(raw);
    await requireSender(app, caller, game_id, { body, signature: headers['x-cooking-signature'] });
    const { cloud_cooking_status: status, cook } = messageOf(body);
    const report = cook && { ...cook, failed: cook.status === 'failed' };
    const after = report && (await reportOutside(app, game_id, report.cook_uuid, report));
    if (status !== undefined) await putStatusOutside(app, caller, game_id, status);
    return {
      game_id,
      cloud_cooking_status: status ?? null,
      cook: after ? toModfileCook({ cook: after, logs: [] }) : null,
    };
  },
});

export const uploadCookBuild = operation({
  id: 'upload-cook-build',
  tag: 'Cloud Cooking',
  method: 'PUT',
  path: '/cloud-cooking/builds/{build_id}/{build_signature}',
  says: 'Uploads a build to its provisioned URL: as a whole, or with `Content-Range` in parts of 52,428,800 bytes, in any order and repeated after a broken connection. A complete build is inspected.',
  access: anyone(),
  unlocked: 'the build that is uploaded is held',
  params: BuildPath,
  headers: {
    'content-range': { says: 'The range of these bytes in the build, from 0: `bytes 0-52428799/104857600`.' },
  },
  raw: { bytesMax: FILE_BYTES_MAX, says: 'A zip archive of up to 20 GB, or a part of it.' },
  returns: ok(CookBuildUploadObject),
  errors: [...PART_REFUSALS, 'MULTIPART_UPLOAD_PART_RECOVERY_INCOMPLETE', 'MULTIPART_UPLOAD_BUILD_HASH_FAILED'],
  handle: async (app, { params, headers, raw, language }) => {
    const build = await receiveBuild(app, addressOf(params), { contentRange: headers['content-range'], ...raw });
    return toCookBuildUpload(build, await listParts(app, build), language);
  },
});

export const getCookBuild = operation({
  id: 'get-cook-build',
  tag: 'Cloud Cooking',
  method: 'GET',
  path: '/cloud-cooking/builds/{build_id}/{build_signature}',
  says: 'Shows which parts of a build have arrived at its upload URL, so that the client can resume the upload.',
  access: anyone(),
  params: BuildPath,
  returns: ok(CookBuildUploadObject),
  errors: [],
  handle: async (app, { params, language }) => {
    const build = await requireBuild(app, addressOf(params));
    return toCookBuildUpload(build, await listParts(app, build), language);
  },
});

export const buildOperations = [
  cookingSasToken,
  cookingValidateBuild,
  finalizeCloudCooking,
  cookingWebhook,
  uploadCookBuild,
  getCookBuild,
];
