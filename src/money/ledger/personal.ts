import { cleared, notExported, retained } from '../../platform/database/personal.ts';
import { inOneStep, type PersonalData } from '../../platform/personal-data.ts';
import { moveBalances, refuseFunds } from './merging.ts';

const BOOKS = retained('books are kept as the law asks, and the id alone tells no name');

export const personalLedger: PersonalData = {
  columns: [
    {
      table: 'ledger_accounts',
      column: 'user_id',
      exported: ['id', 'kind', 'game_id', 'currency', 'balance', 'date_added'],
      whenDeleted: BOOKS,
      whenMerged: retained('the books stay as they were written; a posting moves the balances'),
    },
    {
      table: 'ledger_transactions',
      column: 'user_id',
      exported: ['id', 'date_added', 'game_id', 'kind', 'operation', 'provider', 'provider_reference'],
      whenDeleted: BOOKS,
      whenMerged: retained('each row is signed with the one before it'),
    },
    {
      table: 'ledger_checks',
      column: 'user_id',
      exported: notExported('an act of the site staff about the site'),
      whenDeleted: cleared({ user_id: 0 }),
      whenMerged: 'moved',
    },
  ],
  ending: refuseFunds,
  moving: inOneStep(moveBalances),
};
