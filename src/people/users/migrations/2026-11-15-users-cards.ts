import type { Migration } from '../../../platform/database/migrate.ts';

const SHOWN = ['name_id', 'username', 'avatar', 'timezone', 'language', 'date_joined', 'date_online'];
/** Names in addresses, time zones and languages hold nothing that JSON has to escape. */
const cardOf = (row: string) => `${row}.id, ${row}.name_id, ${row}.avatar,
  concat('{"id":', ${row}.id, ',"name_id":"', ${row}.name_id, '","username":', json_quote(${row}.username),
    ',"display_name_portal":null,"date_online":', ${row}.date_online, ',"date_joined":', ${row}.date_joined, ',"avatar":'),
  concat(',"timezone":"', ${row}.timezone, '","language":"', ${row}.language, '","profile_url":"')`;

/**
 * A person as mods name them, in texts that stand before and behind the avatar. Triggers write it, so that nothing that
 * changes a person has to think of it. PostgreSQL puts the same together while it reads.
 */
export const migration: Migration = {
  name: '2026-11-15-users-cards',
  up: (_types, dialect) => (dialect === 'sqlite' ? ON_SQLITE : []),
};

const ON_SQLITE = [
  `create table user_cards (id integer primary key, name_id text not null, avatar text, before_avatar text not null,
    behind_avatar text not null)`,
  `insert into user_cards select ${cardOf('users')} from users`,
  `create trigger user_cards_added after insert on users begin
    insert into user_cards select ${cardOf('new')}; end`,
  `create trigger user_cards_changed after update of ${SHOWN.join(', ')} on users begin
    replace into user_cards select ${cardOf('new')}; end`,
  'create trigger user_cards_removed after delete on users begin delete from user_cards where id = old.id; end',
];
