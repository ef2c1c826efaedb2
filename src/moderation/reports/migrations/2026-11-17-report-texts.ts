import type { Migration } from '../../../platform/database/migrate.ts';

export const reportTexts: Migration = {
  name: '2026-11-17-report-texts',
  up: ({ text }) => [`alter table reports add column found ${text} not null default ''`],
};
