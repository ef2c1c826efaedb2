import { cleared, notExported, retained } from '../../platform/database/personal.ts';
import { inOneStep, type PersonalData } from '../../platform/personal-data.ts';
import * as store from './store.ts';

export const personalMetrics: PersonalData = {
  columns: [
    {
      table: 'metrics_sessions',
      column: 'user_id',
      exported: ['game_id', 'session_id', 'date_started', 'date_last', 'date_ended'],
      whenDeleted: cleared({ user_id: 0 }),
      whenMerged: 'moved',
    },
    {
      table: 'metrics_creator_months',
      column: 'user_id',
      exported: ['game_id', 'month', 'downloads', 'subscribers'],
      whenDeleted: retained('metrics of a game, which identify nobody once the account has no name'),
      whenMerged: 'step',
    },
    {
      table: 'metrics_platform_creator_months',
      column: 'user_id',
      exported: ['game_id', 'platform', 'month', 'downloads', 'subscribers'],
      whenDeleted: retained('metrics of a game, which identify nobody once the account has no name'),
      whenMerged: 'step',
    },
    ...(['day', 'month'] as const).map((span) => ({
      table: span === 'day' ? ('metrics_platform_active' as const) : ('metrics_platform_active_months' as const),
      column: 'who' as const,
      exported: notExported(`activity on a platform in a ${span} is part of the exported actions`),
      whenDeleted: retained(`prevents counting twice; removed when the ${span} is over`),
      whenMerged: retained('both accounts were active'),
    })),
    {
      table: 'metrics_changes',
      column: 'who',
      exported: notExported('activity is part of the exported actions'),
      whenDeleted: retained('removed within seconds, when it is counted'),
      whenMerged: retained('both accounts were active'),
    },
    {
      table: 'metrics_active',
      column: 'who',
      exported: notExported('activity on a day is part of the exported actions'),
      whenDeleted: retained('prevents counting twice on a day; removed when the day is over'),
      whenMerged: retained('both accounts were active'),
    },
    {
      table: 'metrics_active_months',
      column: 'who',
      exported: notExported('activity in a month is part of the exported actions'),
      whenDeleted: retained('prevents counting twice in a month; removed when the month is over'),
      whenMerged: retained('both accounts were active'),
    },
  ],
  moving: inOneStep((_, transaction, from, to) => store.moveMonths(transaction, from, to)),
};
