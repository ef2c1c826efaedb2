import { inOneStep, type PersonalData } from '../../platform/personal-data.ts';
import * as store from './store.ts';

/** Grants are revoked at once when an account ends; a job erases their rows later. */
export const personalGrants: PersonalData = {
  columns: [
    {
      table: 'oauth_codes',
      column: 'user_id',
      exported: ['client_id', 'scopes', 'redirect_uri', 'date_expires'],
      whenDeleted: 'erased',
      whenMerged: 'dropped',
    },
    {
      table: 'oauth_grants',
      column: 'user_id',
      exported: ['client_id', 'scopes', 'redirect_uri', 'date_added', 'date_revoked'],
      whenDeleted: 'erased',
      whenMerged: 'dropped',
    },
  ],
  erasing: inOneStep((_, transaction, userId) => store.removeRefreshTokensOf(transaction, userId)),
  moving: inOneStep((_, transaction, from) => store.removeRefreshTokensOf(transaction, from)),
};
