import type { Migration } from '../../../platform/database/migrate.ts';

export const siteLook: Migration = {
  name: '2026-11-17-site-look',
  up: ({ integer, text }) => [
    `create table site_look (
      part ${text} not null primary key,
      name ${text} not null,
      summary ${text} not null,
      accent ${text} not null,
      icon ${text},
      date_updated ${integer} not null
    )`,
  ],
};
