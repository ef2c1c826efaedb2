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
      whenDeleted: retained('figures of a game, which name nobody once the account has no name'),
      whenMerged: 'step',
    },
    {
      table: 'metrics_platform_creator_months',
      column: 'user_id',
      exported: ['game_id', 'platform', 'month', 'downloads', 'subscribers'],
      whenDeleted: retained('figures of a game, which name nobody once the account has no name'),
      whenMerged: 'step',
    },
    ...(['day', 'month'] as const).map((span) => ({
      table: span === 'day' ? ('metrics_platform_active' as const) : ('metrics_platform_active_months' as const),
      column: 'who' as const,
      exported: notExported(`that someone was there on a platform in a ${span} is seen by what they did`),
      whenDeleted: retained(`so that nobody is counted twice; it goes when the ${span} is over`),
      whenMerged: retained('both were there'),
    })),
    {
      table: 'metrics_active',
      column: 'who',
      exported: notExported('that someone was there on a day is seen by what they did'),
      whenDeleted: retained('so that nobody is counted twice on a day; it goes when the day is over'),
      whenMerged: retained('both were there'),
    },
    {
      table: 'metrics_active_months',
      column: 'who',
      exported: notExported('that someone was there in a month is seen by what they did'),
      whenDeleted: retained('so that nobody is counted twice in a month; it goes when the month is over'),
      whenMerged: retained('both were there'),
    },
  ],
  moving: inOneStep((_, transaction, from, to) => store.moveMonths(transaction, from, to)),
};
