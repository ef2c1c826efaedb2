import { cleared, notExported, type PersonalColumn, retained } from '../database/personal.ts';

/**
 * All are revoked at once when an account ends. Of a deleted one the digests stay, so that an old token or key is told
 * that the account is deleted; tokens go when they would have expired.
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
    // Nobody calls as someone who is gone, whatever the number.
    whenDeleted: 'erased',
    whenMerged: 'dropped',
  },
];
