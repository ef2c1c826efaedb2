import { type PersonalColumn, untold } from '../database/personal.ts';

/** Both are revoked at once when an account ends; what is left of them goes later. Digests are nobody's to read. */
export const credentialColumns: readonly PersonalColumn[] = [
  {
    table: 'access_tokens',
    column: 'user_id',
    told: ['id', 'name', 'game_id', 'scopes', 'date_added', 'date_expires', 'date_revoked'],
    whenDeleted: 'erased',
    whenMerged: 'dropped',
  },
  {
    table: 'api_keys',
    column: 'user_id',
    told: ['id', 'date_added', 'date_revoked'],
    whenDeleted: 'erased',
    whenMerged: 'dropped',
  },
  {
    table: 'access_epochs',
    column: 'user_id',
    told: untold('a number by which tokens are told apart'),
    // Nobody calls as someone who is gone, whatever the number.
    whenDeleted: 'erased',
    whenMerged: 'dropped',
  },
];
