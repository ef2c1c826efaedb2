import { z } from 'zod';
import { type Caller, readerOrLink, visitorByLink } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { limitedAddress } from '../../platform/http/address.ts';
import { ModPath, PathId } from '../../platform/http/objects.ts';
import { type AnyOperation, Bytes, operation, storedFile } from '../../platform/http/operation.ts';
import { queueDownload } from './counting.ts';
import { requireDownload } from './downloads.ts';

const FilePath = ModPath.extend({ file_id: PathId });
const SignedPath = FilePath.extend({ verification_hash: z.string() });
const ZIP = 'application/zip';

const ERRORS = [
  'GAME_NOT_FOUND',
  'GAME_DELETED',
  'MOD_NOT_FOUND',
  'MOD_DELETED',
  'MOD_NO_VIEW_PERMISSION',
  'MODFILE_NOT_FOUND',
  'USER_MUST_BE_LOGGED_IN',
  'MONETIZATION_MARKETPLACE_MOD_NOT_OWNED',
  'MATURE_CONTENT_RESTRICTED',
  'VAULT_TOO_EARLY',
  'VAULT_EXPIRED',
] as const;

interface Asked {
  readonly caller: Caller;
  readonly ip: string;
  readonly platform: string | undefined;
  readonly params: { game_id: number; mod_id: number; file_id: number; verification_hash?: string };
  readonly query: { verification_hash?: string | undefined };
}

async function download(app: App, { caller, params, query, platform = '', ip }: Asked): Promise<Bytes> {
  const { game_id: gameId, mod_id: modId, file_id: fileId } = params;
  const signature = params.verification_hash ?? query.verification_hash;
  const wanted = { gameId, modId, fileId, platform, signature };
  const file = await requireDownload(app, caller, wanted);
  const { mod_id, game_id, storage_key: key, filesize, sha256, filename, date_added } = file;
  const userId = caller.kind === 'user' ? caller.userId : undefined;
  const begun = () => queueDownload(app, { mod_id, game_id, platform, address: limitedAddress(ip), userId });
  return new Bytes({ key, bytes: filesize, sha256, filename, type: ZIP, dateModified: date_added }, begun);
}

export const downloadModfile = operation({
  id: 'download-modfile',
  tag: 'Files',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/files/{file_id}/download',
  says: 'Downloads a file, whole or in ranges, with credentials or with the signature of a link. A game can require that the user is signed in or owns the mod.',
  access: readerOrLink(),
  params: FilePath,
  query: z.object({
    verification_hash: z
      .string()
      .optional()
      .meta({ description: 'The signature of a link from a response. It replaces credentials until it expires.' }),
  }),
  returns: storedFile(ZIP),
  errors: ERRORS,
  handle: download,
});

export const downloadModfileHashed = operation({
  id: 'download-modfile-hashed',
  tag: 'Files',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/files/{file_id}/download/{verification_hash}',
  says: 'Downloads a file by a signed link, until the link expires or the file is taken down.',
  access: visitorByLink(),
  params: SignedPath,
  returns: storedFile(ZIP),
  errors: ERRORS,
  handle: download,
});

export const downloadOperations: readonly AnyOperation[] = [downloadModfile, downloadModfileHashed];
