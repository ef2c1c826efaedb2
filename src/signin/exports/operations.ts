import { z } from 'zod';
import { anyone, user } from '../../platform/access/caller.ts';
import { MessageObject, Timestamp } from '../../platform/http/objects.ts';
import { accepted, Bytes, ok, operation, storedFile } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { exportAddress, requireExport, requireLatestExport, startExport } from './exports.ts';

const JSON_TYPE = 'application/json';

const ExportObject = z
  .object({
    date_added: Timestamp,
    date_expires: Timestamp,
    download_url: z.string().nullable().meta({ description: 'Null until the export is complete.' }),
  })
  .meta({ id: 'DataExport' });

export const requestExport = operation({
  id: 'request-data-export',
  tag: 'Me',
  method: 'POST',
  path: '/me/export',
  says: 'Requests an export of all data about the user, at most once a day. A mail announces the download.',
  access: user('read', 'account'),
  returns: accepted(MessageObject),
  errors: ['OAUTH_TOKEN_DELETE_NO_PERMISSION', 'USER_CANT_GET_DATA_RECENT_REQUEST'],
  handle: async (app, { caller, language }) => {
    await startExport(app, caller);
    return { code: 202, message: localise('data_export_asked', language) };
  },
});

export const getExport = operation({
  id: 'get-data-export',
  tag: 'Me',
  method: 'GET',
  path: '/me/export',
  says: 'Shows the latest export of the user and its download link. It expires after a week.',
  access: user('read', 'account'),
  returns: ok(ExportObject),
  errors: ['RESOURCE_NOT_FOUND'],
  handle: async (app, { caller }) => {
    const { id, date_added, date_expires, storage_key } = await requireLatestExport(app, caller);
    return { date_added, date_expires, download_url: storage_key === null ? null : exportAddress(app, id) };
  },
});

const downloadExport = operation({
  id: 'download-data-export',
  tag: 'Users',
  method: 'GET',
  path: '/exports/{export_token}',
  says: 'Downloads an export by its mailed link.',
  access: anyone(),
  params: z.object({ export_token: z.string() }),
  returns: storedFile(JSON_TYPE),
  errors: ['RESOURCE_NOT_FOUND'],
  handle: async (app, { params }) => {
    const { storage_key: key, bytes, sha256, date_added } = await requireExport(app, params.export_token);
    return new Bytes({
      key,
      bytes,
      sha256,
      filename: 'my-data.json',
      type: JSON_TYPE,
      dateModified: date_added,
    });
  },
});

export const exportOperations = [requestExport, getExport, downloadExport];
