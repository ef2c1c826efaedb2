import { cleared, notExported, type PersonalColumn, retained } from '../database/personal.ts';

/**
 * All credentials are revoked when an account ends. The digests of a deleted account stay, so that a request with an
 * old credential gets the error USER_DELETED; tokens are removed when they would have expired.
 */
export const credentialColumns: readonly PersonalColumn[] = [
  {
    table: 'access_tokens',
    column: 'user_id',
    exported: ['id', 'name', 'game_id', 'scopes', 'date_added', 'date_expires', 'date_revoked'],
    whenDeleted: cleared({ name: null, scopes: '', game_id: null, client_id: null, grant_id: null }),
    whenMerged: 'dropped',
  },
  {
    table: 'api_keys',
    column: 'user_id',
    exported: ['id', 'date_added', 'date_revoked'],
    whenDeleted: retained('a digest, which says that the account of the key is deleted'),
    whenMerged: 'dropped',
  },
  {
    table: 'access_epochs',
    column: 'user_id',
    exported: notExported('a number by which tokens are told apart'),
    // A deleted account has no valid tokens, whatever its epoch.
    whenDeleted: 'erased',
    whenMerged: 'dropped',
  },
];
