import { z } from 'zod';
import type { ApiError } from '../../platform/errors/catalogue.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { Refusal } from '../../platform/http/operation.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { RFC_NAMES } from './authorization.ts';
import { type Client, GRANTS } from './clients.ts';
import { oauthDescription } from './descriptions.ts';

export const OauthTokenObject = z
  .object({
    token_type: z.literal('Bearer'),
    expires_in: Integer.meta({ description: 'Seconds.' }),
    access_token: z.string(),
    refresh_token: z.string().optional(),
    scopes: z.string().optional().meta({ description: 'Service tokens only: separated by commas.' }),
  })
  .meta({ id: 'OauthToken' });

/** RFC 8628, section 3.2. */
export const DeviceAuthorizationObject = z
  .object({
    device_code: z.string().meta({ description: 'For the token endpoint; never shown to the user.' }),
    user_code: z.string().meta({ description: 'For the user to type.' }),
    verification_uri: z.string(),
    verification_uri_complete: z.string().meta({ description: 'The address with the code, to be shown as a QR code.' }),
    expires_in: Integer.meta({ description: 'Seconds.' }),
    interval: Integer.meta({ description: 'Seconds between two requests to the token endpoint.' }),
  })
  .meta({ id: 'DeviceAuthorization' });

export const OauthClientObject = z
  .object({
    id: Id,
    game_id: Id,
    name: z.string(),
    redirect_uris: z.array(z.string()),
    grants: z.array(z.enum(GRANTS)),
    requires_pkce: z.boolean(),
    standard: z.boolean(),
    date_added: Timestamp,
    date_previous_secret_ends: Timestamp.meta({
      description: 'Until then the secret before the current one is valid, too; 0 if there was none.',
    }),
  })
  .meta({ id: 'OauthClient' });

export const OauthClientSecretObject = z
  .object({ client_id: Id, client_secret: z.string().meta({ description: 'Shown this once.' }) })
  .meta({ id: 'OauthClientSecret' });

export const toClientObject = (client: Client): z.input<typeof OauthClientObject> => ({
  id: client.id,
  game_id: client.gameId,
  name: client.name,
  redirect_uris: [...client.redirectUris],
  grants: [...client.grants],
  requires_pkce: client.requiresPkce,
  standard: client.standard,
  date_added: client.dateAdded,
  date_previous_secret_ends: client.datePreviousSecretEnds,
});

/** The error format of RFC 6749, section 5.2, which every OAuth client understands. */
const OauthErrorObject = z
  .object({ error: z.string(), error_description: z.string(), error_ref: Integer.optional() })
  .meta({ id: 'OauthError' });

export const oauthRefusal = { schema: OauthErrorObject, of: toRefusal };

function toRefusal(error: ApiError, language: Language): Refusal {
  const status = statusOf(error);
  return {
    status,
    body: {
      error: RFC_NAMES[error.error] ?? nameByStatus(error),
      error_description: oauthDescription(error, language),
      ...(error.ref !== 0 && { error_ref: error.ref }),
    },
    headers: status === 401 ? ['www-authenticate', 'Basic realm="Modstead", charset="UTF-8"'] : [],
  };
}

/** Errors of HTTP itself: types, sizes and rates. */
const STATUSES_OF_HTTP = [405, 406, 413, 415, 429];

/** RFC 6749 answers all errors with 400, except 401 for failed authentication in the header. */
function statusOf({ error, status }: ApiError): number {
  if (status >= 500 || STATUSES_OF_HTTP.includes(status)) return status;
  return error === 'OAUTH_INVALID_CLIENT' ? status : 400;
}

function nameByStatus({ error, status }: ApiError): string {
  if (error === 'OAUTH_UNEXPECTED_GAME_REFERENCE') return 'unauthorized_client';
  if (status >= 500) return status === 503 ? 'temporarily_unavailable' : 'server_error';
  return status === 429 ? 'temporarily_unavailable' : 'invalid_request';
}
