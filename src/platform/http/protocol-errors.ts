import { powerOf } from '../access/admission.ts';
import { type Access, isForKeys } from '../access/caller.ts';
import type { ErrorName } from '../errors/catalogue.ts';
import { type AnyOperation, takesBody } from './operation.ts';
import { lockErrors } from './operation-locks.ts';

/** Errors that every operation can answer. */
export const UNIVERSAL_ERRORS: readonly ErrorName[] = [
  'REQUEST_MALFORMED',
  'HTTPS_REQUIRED',
  'SERVICE_IP_BAN',
  'CORS_GENERIC',
  'JSON_RESPONSE_ONLY',
  'RATE_LIMITED',
  'RATE_LIMITED_ENDPOINT',
  'UNEXPECTED_OPERATION_FAILURE',
  'UNEXPECTED_SERVICE_OUTAGE',
];

const KEY_ERRORS: readonly ErrorName[] = [
  'API_KEY_MISSING',
  'API_KEY_MALFORMED',
  'API_KEY_INVALID',
  'USER_DELETED',
  'USER_BANNED',
];

/**
 * The errors that follow from the protocol, the access, the method and the input of an operation. A declaration lists
 * only those of its resource.
 */
export function protocolErrorsOf(operation: AnyOperation): readonly ErrorName[] {
  return [
    ...UNIVERSAL_ERRORS,
    ...accessErrors(operation),
    ...requestErrors(operation),
    ...gameErrors(operation),
    ...lockErrors(operation),
  ];
}

function accessErrors({ declaration: { access, method } }: AnyOperation): readonly ErrorName[] {
  switch (access.kind) {
    case 'anyone':
      return access.named
        ? [
            ...KEY_ERRORS,
            ...tokenErrors(access),
            ...powerErrors(access),
            ...when(access.content === true, 'OAUTH_UNEXPECTED_GAME_REFERENCE'),
          ]
        : [];
    case 'authentication':
      return [...KEY_ERRORS, 'ACTION_RESTRICTED_NO_TEST_KEY'];
    case 'reader':
      return [
        ...KEY_ERRORS,
        ...tokenErrors(access),
        ...(isForKeys(access, method) ? [] : SIGNED_IN),
        ...when(access.keyWrites === true, 'SERVICE_TOKEN_MISSING_SCOPE'),
        ...when(access.content === true, 'OAUTH_UNEXPECTED_GAME_REFERENCE'),
      ];
    case 'user':
      return [
        ...KEY_ERRORS,
        ...tokenErrors(access),
        ...SIGNED_IN,
        ...(access.service ? [...OF_ONE_GAME, ...OF_SERVICES] : (['SERVICE_TOKEN_WITHOUT_USER'] as const)),
        ...powerErrors(access),
      ];
    case 'service':
      return [
        ...KEY_ERRORS,
        'SERVICE_TOKEN_REQUIRED',
        ...tokenErrors(access),
        ...SIGNED_IN,
        ...OF_ONE_GAME,
        ...OF_SERVICES,
      ];
  }
}

/** The errors for tokens that lack the declared power. */
function powerErrors(access: Access): readonly ErrorName[] {
  switch (powerOf(access)) {
    case 'content':
    case 'personal':
      return ['TOKEN_OF_OTHER_GAME'];
    case 'profile':
      return ['TOKEN_OF_APPLICATION'];
    case 'team':
      return ['TOKEN_OF_APPLICATION', 'TOKEN_OF_GAME', ...OF_ONE_GAME];
    case 'money':
    case 'account':
    case 'staff':
      return ['TOKEN_OF_APPLICATION', 'TOKEN_OF_GAME'];
  }
}

const SIGNED_IN: readonly ErrorName[] = ['USER_MUST_BE_LOGGED_IN'];
const OF_ONE_GAME: readonly ErrorName[] = ['OAUTH_UNEXPECTED_GAME_REFERENCE'];
const OF_SERVICES: readonly ErrorName[] = ['SERVICE_TOKEN_MISSING_SCOPE'];

function tokenErrors(access: Access): readonly ErrorName[] {
  const writes = 'scope' in access && access.scope === 'write';
  return ['TOKEN_EXPIRED_OR_REVOKED', writes ? 'TOKEN_MISSING_SCOPE_WRITE' : 'TOKEN_MISSING_SCOPE_READ'];
}

function requestErrors(operation: AnyOperation): readonly ErrorName[] {
  const { method, params, query, list, files, raw, once } = operation.declaration;
  const reads = takesBody(operation);
  return [
    ...when(params !== undefined, 'RESOURCE_NOT_FOUND'),
    ...when(reads || Boolean(query ?? list ?? raw), 'VALIDATION_GENERIC'),
    ...when(reads, 'JSON_MALFORMED', 'MISSING_CONTENT_TYPE', 'INCORRECT_CONTENT_TYPE', 'FILE_UNREADABLE'),
    ...when(reads && (method === 'POST' || method === 'PUT'), 'POST_PUT_NO_PAYLOAD'),
    ...when(files !== undefined, 'FILE_NOT_BINARY', 'FILE_CORRUPTED', 'FILE_TOO_MANY'),
    ...when(once === true, 'REQUEST_REPEATED'),
  ];
}

/** A game may be closed to keys and tokens of other games. */
const gameErrors = ({ declaration: { path } }: AnyOperation): readonly ErrorName[] =>
  when(path.startsWith('/games/{game_id}'), 'GAME_NO_VIEW_PERMISSION');

const when = (condition: boolean, ...errors: ErrorName[]): readonly ErrorName[] => (condition ? errors : []);
