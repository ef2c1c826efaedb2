import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-portals',
  up: ({ id, integer, text }) => [
    `create table portal_accounts (id ${id}, user_id ${integer} not null, portal ${text} not null,
      portal_id ${text} not null, game_id ${integer} not null, display_name ${text} not null, avatar ${text} not null,
      date_added ${integer} not null, date_used ${integer} not null, unique (portal, portal_id, game_id),
      unique (user_id, portal, game_id))`,
    `create table portal_settings (game_id ${integer} not null, portal ${text} not null, fields ${text} not null,
      secrets ${text} not null, date_updated ${integer} not null, primary key (game_id, portal))`,
    `create table portal_tickets (digest ${text} primary key, ip ${text} not null, date_added ${integer} not null,
      date_expires ${integer} not null)`,
    'create index portal_tickets_by_expiry on portal_tickets (date_expires)',
    `create table email_confirmations (user_id ${integer} primary key, email ${text} not null, digest ${text} not null,
      attempts ${integer} not null, date_expires ${integer} not null)`,
  ],
};
