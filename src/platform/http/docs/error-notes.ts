import type { PublishedName } from './model.ts';

interface Note {
  readonly when?: string;
  readonly action?: string;
}

/** Details that the messages of protocol errors omit: the exact condition, and what a client can do. */
export const NOTES: Readonly<Partial<Record<PublishedName, Note>>> = {
  NO_REF: {
    when: 'Never: it is in the published list, but no answer contains it.',
    action: 'Nothing.',
  },
  UNEXPECTED_SERVICE_OUTAGE: {
    when: 'The service cannot answer at the moment, for example while it stops or while its database does not respond.',
    action: 'Send the request again later, with growing pauses.',
  },
  CORS_GENERIC: {
    when: 'The request carries the `Origin` of a website that may not call this service. `MODSTEAD_CORS_ORIGINS` lists the websites that may.',
  },
  UNEXPECTED_OPERATION_FAILURE: {
    when: 'The service failed while it worked on the request. Its log has the details under the `x-request-id` of the answer.',
    action:
      'Send the request again later, with growing pauses. If it stays, send the `x-request-id` to the people who run the service.',
  },
  API_VERSION_INVALID: { when: 'The path starts with a version other than `/v1`.' },
  API_KEY_MISSING: {
    when: 'The operation needs credentials, and the request has neither `api_key` nor an access token.',
  },
  API_KEY_MALFORMED: { when: 'The `api_key` is not a text of 32 letters and digits.' },
  API_KEY_INVALID: { when: 'No game and no user has this `api_key`, or it was revoked.' },
  TOKEN_MISSING_SCOPE_WRITE: {
    when: 'The operation writes, and the access token was issued without the scope `write`.',
  },
  TOKEN_MISSING_SCOPE_READ: { when: 'The access token was issued without the scope `read`.' },
  USER_MUST_BE_LOGGED_IN: {
    when: 'The operation acts for a user, and the request has only an API key.',
    action: 'Sign the user in, and send the access token as `Authorization: Bearer …`.',
  },
  RATE_LIMITED: {
    when: 'The caller has sent more requests, of any kind, than the service allows in the time.',
    action: 'Wait as many seconds as the `Retry-After` header says. Failed requests count as well.',
  },
  RATE_LIMITED_ENDPOINT: {
    when: 'The caller has called this operation more often than its own limit allows.',
    action: 'Wait as many seconds as the `Retry-After` header says. Failed requests count as well.',
  },
  JSON_MALFORMED: {
    when: 'The field `input_json`, or a body of the type `application/json`, is not one valid JSON object.',
  },
  MISSING_CONTENT_TYPE: { when: 'The request has a body, but no `Content-Type` header.' },
  INCORRECT_CONTENT_TYPE: {
    when: 'The `Content-Type` of the body is none that the operation reads.',
    action: 'Send a form: `multipart/form-data` with files, otherwise also `application/x-www-form-urlencoded`.',
  },
  JSON_RESPONSE_ONLY: { when: 'The `Accept` header of the request does not include JSON.' },
  POST_PUT_NO_PAYLOAD: { when: 'The request should change something, but has no field besides `api_key`.' },
  VALIDATION_GENERIC: {
    when: 'At least one field or filter has a value that the operation does not accept.',
    action: 'Read `error.errors`: it has a message for each field that is wrong.',
  },
  RESOURCE_NOT_FOUND: {
    when: 'There is nothing at this address, or an id in it belongs to nothing that the caller may see.',
  },
  GAME_NOT_FOUND: { when: 'No game has this id, or the game is hidden and the caller may not see it.' },
  GAME_DELETED: { when: 'The game was deleted.' },
  MOD_NOT_FOUND: {
    when: 'The game has no mod with this id, or the mod is hidden and the caller may not see it.',
    action:
      'Check the mod ID and that the mod belongs to the game in the address. For a hidden mod, use the access token of someone who may see it.',
  },
  MOD_DELETED: { when: 'The mod was deleted.' },
  METHOD_NOT_ALLOWED: { when: 'There are operations at this address, but none with this HTTP method.' },
  REQUEST_REPEATED: {
    action: 'Do not send it again: `Location` is the address of what the first request created.',
  },
  USER_LOCKED: { when: 'The account behind the access token is locked.' },
};

/** What a client can do about an error whose message does not name it. */
export function actionFor(status: number): string {
  switch (status) {
    case 401:
      return 'Check the credentials of the request, or sign in again.';
    case 402:
    case 403:
      return 'Sending the request again does not help. Use an account that has the permission, or ask an administrator for it.';
    case 404:
      return 'Check the ids in the address, and do not ask for it again.';
    case 409:
      return 'Read the current state first, then decide whether the request is still needed.';
    case 429:
      return 'Wait as many seconds as the `Retry-After` header says.';
    default:
      return status >= 500
        ? 'Send the request again later, with growing pauses.'
        : 'Change the request before you send it again: failed requests count towards the rate limits as well.';
  }
}
