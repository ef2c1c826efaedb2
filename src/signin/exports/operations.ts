import { z } from 'zod';
import { anyone, user } from '../../platform/access/caller.ts';
import { MessageObject, Timestamp } from '../../platform/http/objects.ts';
import { accepted, Bytes, ok, operation, storedFile } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { askForExport, exportAddress, requireExport, requireLatestExport } from './exports.ts';

const ExportObject = z
  .object({
    date_added: Timestamp,
    date_expires: Timestamp,
    download_url: z.string().nullable().meta({ description: 'None until all is gathered.' }),
  })
  .meta({ id: 'DataExport' });

export const requestExport = operation({
  id: 'request-data-export',
  tag: 'Me',
  method: 'POST',
  path: '/me/export',
  says: 'Gathers all that is kept about the person, once a day. A mail tells when it is ready.',
  access: user('read', 'account'),
  returns: accepted(MessageObject),
  errors: ['OAUTH_TOKEN_DELETE_NO_PERMISSION', 'USER_CANT_GET_DATA_RECENT_REQUEST'],
  handle: async (app, { caller, language }) => {
    await askForExport(app, caller);
    return { code: 202, message: localise('data_export_asked', language) };
  },
});

export const getExport = operation({
  id: 'get-data-export',
  tag: 'Me',
  method: 'GET',
  path: '/me/export',
  says: 'Tells where the data of the person is, for a week.',
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
  says: 'The data of a person, by the link that they were sent.',
  access: anyone(),
  params: z.object({ export_token: z.string() }),
  returns: storedFile,
  errors: ['RESOURCE_NOT_FOUND'],
  handle: async (app, { params }) => {
    const { storage_key: key, bytes, sha256, date_added } = await requireExport(app, params.export_token);
    return new Bytes({
      key,
      bytes,
      sha256,
      filename: 'my-data.json',
      type: 'application/json',
      dateModified: date_added,
    });
  },
});

export const exportOperations = [requestExport, getExport, downloadExport];
