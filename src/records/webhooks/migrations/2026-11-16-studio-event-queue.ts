import type { Migration } from '../../../platform/database/migrate.ts';

export const studioEventQueueTable: Migration = {
  name: '2026-11-16-studio-event-queue',
  up: ({ id, integer, text }) => [
    `create table studio_event_queue (
      id ${id},
      game_id ${integer} not null, -- no key: of a higher domain
      kind ${text} not null,
      subject ${text} not null,
      data ${text} not null,
      date_added ${integer} not null
    )`,
    'create index studio_event_queue_by_game on studio_event_queue (game_id, id)',
  ],
};
