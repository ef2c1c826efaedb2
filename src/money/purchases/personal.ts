import { notExported, retained } from '../../platform/database/personal.ts';
import { inOneStep, type PersonalData } from '../../platform/personal-data.ts';
import { movePurchases } from './refunds.ts';

export const personalPurchases: PersonalData = {
  columns: [
    {
      table: 'purchases',
      column: 'user_id',
      exported: ['id', 'game_id', 'mod_id', 'price', 'status', 'date_added', 'date_refunded'],
      whenDeleted: retained('records of sales are kept as the law asks, and the id alone tells no name'),
      whenMerged: 'step',
    },
    {
      table: 'mod_orders',
      column: 'user_id',
      exported: ['payment_id', 'game_id', 'mod_id', 'price', 'status', 'date_added'],
      whenDeleted: retained('records of orders are kept with their payments, and the id alone tells no name'),
      whenMerged: 'moved',
    },
    {
      table: 'store_orders',
      column: 'user_id',
      exported: ['fulfilment_id', 'game_id', 'mod_id', 'price', 'status', 'date_added'],
      whenDeleted: retained(
        'records of orders are kept with their purchases at stores, and the id alone tells no name',
      ),
      whenMerged: 'moved',
    },
    {
      table: 'idempotent_requests',
      column: 'user_id',
      exported: notExported('a response that was sent, kept for a day'),
      whenDeleted: 'erased',
      whenMerged: 'dropped',
    },
  ],
  moving: inOneStep(movePurchases),
};
