import type { Migration } from '../../../platform/database/migrate.ts';

/** Who could do everything before there were levels still can: they are owners. */
export const migration: Migration = {
  name: '2026-11-15-users-staff',
  up: ({ integer }) => [
    `create table site_staff (user_id ${integer} primary key, level ${integer} not null, added_by ${integer} not null,
      date_added ${integer} not null)`,
    `insert into site_staff (user_id, level, added_by, date_added)
      select id, 8, 0, date_joined from users where admin = 1`,
  ],
};
