import { z } from 'zod';
import { reader, user } from '../../platform/access/caller.ts';
import { ModPath, page, pageOf, pageOfAll, pagesOnly } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { completeUpload } from './completion.ts';
import { confirmPart, linkPart } from './links.ts';
import {
  MultipartUploadLinkObject,
  MultipartUploadObject,
  MultipartUploadPartObject,
  PART_BODY,
  PART_HEADERS,
  toMultipartUpload,
  toMultipartUploadPart,
} from './object.ts';
import { receivePart } from './parts.ts';
import { COMPLETION_REFUSALS, OPENING_REFUSALS, PART_REFUSALS } from './refusals.ts';
import { cancelUpload, createUpload, listParts, listUploads, uploadListing } from './uploads.ts';

const PATH = '/games/{game_id}/mods/{mod_id}/files/multipart';
const MOD_ERRORS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;

const UploadQuery = z.object({
  upload_id: z.string().min(1).meta({ description: 'The id of the session, from the response that created it.' }),
});

const namesOf = (params: { game_id: number; mod_id: number }, query: { upload_id: string }) => ({
  gameId: params.game_id,
  modId: params.mod_id,
  uploadId: query.upload_id.toLowerCase(),
});

/** Filenames become parts of headers and of paths on players’ machines. */
const Filename = z
  .string()
  .max(255)
  .regex(/^[^\p{Cc}/\\]+$/u)
  .refine((name) => /.\.zip$/i.test(name), { params: { rule: 'zip_name' } });

export const createMultipartUploadSession = operation({
  id: 'create-multipart-upload-session',
  tag: 'Multipart Uploads',
  method: 'POST',
  path: PATH,
  says: 'Opens a session to upload a file of up to 20 GB in parts. The same nonce returns the same session for the same file. A session ends two days after its last part.',
  access: user('write'),
  params: ModPath,
  body: z.object({
    filename: Filename.meta({ description: 'The name of the archive, which ends in `.zip`.' }),
    nonce: z
      .string()
      .max(64)
      .optional()
      .meta({ description: 'A name that the client chooses for this upload, such as a hash of the file.' }),
  }),
  returns: ok(MultipartUploadObject),
  errors: [...MOD_ERRORS, 'MODFILE_NO_UPLOAD_PERMISSION', 'MOD_NO_UPLOAD_PERMISSION_BY_ADMIN', ...OPENING_REFUSALS],
  handle: async (app, { caller, params: { game_id, mod_id }, body: { filename, nonce } }) => {
    const upload = await createUpload(app, caller, { gameId: game_id, modId: mod_id }, { filename, nonce });
    return toMultipartUpload(upload, app.clock.now());
  },
});

export const getMultipartUploadSessions = operation({
  id: 'get-multipart-upload-sessions',
  tag: 'Multipart Uploads',
  method: 'GET',
  path: `${PATH}/sessions`,
  says: 'Lists the caller’s upload sessions for a mod, including those that ended within the last day.',
  access: reader(),
  params: ModPath,
  list: uploadListing,
  returns: ok(pageOf(MultipartUploadObject)),
  errors: [...MOD_ERRORS, 'MOD_NO_UPLOAD_PERMISSION_BY_ADMIN'],
  handle: async (app, { caller, params, list }) => {
    const { rows, total } = await listUploads(app, caller, params.game_id, params.mod_id, list);
    const now = app.clock.now();
    return page(
      rows.map((row) => toMultipartUpload(row, now)),
      total,
      list,
    );
  },
});

export const getMultipartUploadParts = operation({
  id: 'get-multipart-upload-parts',
  tag: 'Multipart Uploads',
  method: 'GET',
  path: PATH,
  says: 'Lists the complete parts of one of the caller’s upload sessions, so that the client can resume the upload.',
  access: reader(),
  params: ModPath,
  query: UploadQuery,
  list: pagesOnly,
  returns: ok(pageOf(MultipartUploadPartObject)),
  errors: [...MOD_ERRORS, 'MULTIPART_UPLOAD_IDENTIFIER_INVALID'],
  handle: async (app, { caller, params, query, list }) => {
    const parts = await listParts(app, caller, namesOf(params, query));
    return pageOfAll(parts.map(toMultipartUploadPart), list);
  },
});

export const addMultipartUploadPart = operation({
  id: 'add-multipart-upload-part',
  tag: 'Multipart Uploads',
  method: 'PUT',
  path: PATH,
  says: 'Uploads a part of a file, in any order: 52,428,800 bytes, or less if it is the last. A repeated part is acknowledged again.',
  access: user('write'),
  params: ModPath,
  query: UploadQuery,
  headers: PART_HEADERS,
  raw: PART_BODY,
  returns: ok(MultipartUploadPartObject),
  errors: [...MOD_ERRORS, 'MODFILE_NO_UPLOAD_PERMISSION', 'MOD_NO_UPLOAD_PERMISSION_BY_ADMIN', ...PART_REFUSALS],
  handle: async (app, { caller, params, query, headers, raw }) => {
    const sent = { contentRange: headers['content-range'], digest: headers['digest'], ...raw };
    return toMultipartUploadPart(await receivePart(app, caller, namesOf(params, query), sent));
  },
});

const LinkedPartBody = UploadQuery.extend({
  content_range: z
    .string()
    .min(1)
    .meta({ description: 'The range of the part in the file, from 0: `bytes 0-52428799/104857600`.' }),
  digest: z.string().min(1).meta({ description: 'The SHA-256 of the part: `sha-256=…`, in hexadecimal or base64.' }),
});

export const createMultipartUploadLink = operation({
  id: 'create-multipart-upload-link',
  tag: 'Multipart Uploads',
  method: 'POST',
  path: `${PATH}/links`,
  says: 'Creates an address of the object storage that accepts one part for 15 minutes. The part counts once it was confirmed. The address is empty if the storage takes no parts from clients.',
  access: user('write'),
  params: ModPath,
  body: LinkedPartBody,
  returns: ok(MultipartUploadLinkObject),
  errors: [...MOD_ERRORS, 'MODFILE_NO_UPLOAD_PERMISSION', 'MOD_NO_UPLOAD_PERMISSION_BY_ADMIN', ...PART_REFUSALS],
  handle: async (app, { caller, params, body }) => {
    const named = namesOf(params, body);
    const link = await linkPart(app, caller, named, { contentRange: body.content_range, digest: body.digest });
    const { partNumber: part_number, url, dateExpires: date_expires } = link;
    return { upload_id: named.uploadId, part_number, url, date_expires };
  },
});

export const confirmMultipartUploadPart = operation({
  id: 'confirm-multipart-upload-part',
  tag: 'Multipart Uploads',
  method: 'POST',
  path: `${PATH}/parts`,
  says: 'Acknowledges a part that the client has sent to the object storage. Completing the session compares its bytes with the digest.',
  access: user('write'),
  params: ModPath,
  body: LinkedPartBody,
  returns: ok(MultipartUploadPartObject),
  errors: [...MOD_ERRORS, 'MODFILE_NO_UPLOAD_PERMISSION', 'MOD_NO_UPLOAD_PERMISSION_BY_ADMIN', ...PART_REFUSALS],
  handle: async (app, { caller, params, body }) => {
    const linked = { contentRange: body.content_range, digest: body.digest };
    return toMultipartUploadPart(await confirmPart(app, caller, namesOf(params, body), linked));
  },
});

export const completeMultipartUploadSession = operation({
  id: 'complete-multipart-upload-session',
  tag: 'Multipart Uploads',
  method: 'POST',
  path: `${PATH}/complete`,
  says: 'Assembles all parts into one file. Its `upload_id` can then be used for one modfile of this mod, within two days.',
  access: user('write'),
  params: ModPath,
  query: UploadQuery,
  returns: ok(MultipartUploadObject),
  errors: [...MOD_ERRORS, 'MODFILE_NO_UPLOAD_PERMISSION', 'MOD_NO_UPLOAD_PERMISSION_BY_ADMIN', ...COMPLETION_REFUSALS],
  handle: async (app, { caller, params, query }) =>
    toMultipartUpload(await completeUpload(app, caller, namesOf(params, query)), app.clock.now()),
});

export const deleteMultipartUploadSession = operation({
  id: 'delete-multipart-upload-session',
  tag: 'Multipart Uploads',
  method: 'DELETE',
  path: PATH,
  says: 'Cancels an upload session and removes its parts.',
  access: user('write'),
  params: ModPath,
  query: UploadQuery,
  returns: noContent,
  errors: [
    ...MOD_ERRORS,
    'MOD_NO_UPLOAD_PERMISSION_BY_ADMIN',
    'MULTIPART_UPLOAD_SESSION_ALREADY_CANCELLED',
    'MULTIPART_UPLOAD_IDENTIFIER_INVALID',
    'MULTIPART_UPLOAD_CANNOT_ABORT',
  ],
  handle: (app, { caller, params, query }) => cancelUpload(app, caller, namesOf(params, query)),
});

export const uploadOperations = [
  createMultipartUploadSession,
  getMultipartUploadSessions,
  getMultipartUploadParts,
  addMultipartUploadPart,
  createMultipartUploadLink,
  confirmMultipartUploadPart,
  completeMultipartUploadSession,
  deleteMultipartUploadSession,
];
