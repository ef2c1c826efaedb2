import type { Migration } from '../../../platform/database/migrate.ts';

const INTO = 'insert into waiting_files (game_id, modfile_id, platform)';
/** The platforms of shown files that wait; `rows` are platforms of files. */
const waitingIn = (rows: string) => `${INTO} select f.game_id, p.modfile_id, p.platform from ${rows} p
  join modfiles f on f.id = p.modfile_id join mods m on m.id = f.mod_id
  where p.status = 0 and f.status = 1 and f.withdrawn = 0 and m.status <> 3`;
const AGAIN = 'on conflict (game_id, modfile_id, platform) do nothing';
/** Looks at files again: those that this condition names. */
const refreshing = (isMeant: (column: string) => string) =>
  `delete from waiting_files where ${isMeant('modfile_id')};
  ${waitingIn('modfile_platforms')} and ${isMeant('p.modfile_id')} ${AGAIN}`;

const OF_FILE = refreshing((column) => `${column} = new.id`);
const OF_PLATFORM = refreshing((column) => `${column} = new.modfile_id`);
const OF_MOD = refreshing((column) => `${column} in (select id from modfiles where mod_id = new.id)`);

const onSqlite = () => [
  `create trigger waiting_files_added after insert on modfile_platforms when new.status = 0 begin
    ${waitingIn('modfile_platforms')} and p.modfile_id = new.modfile_id and p.platform = new.platform ${AGAIN}; end`,
  `create trigger waiting_files_removed after delete on modfile_platforms when old.status = 0 begin
    delete from waiting_files where modfile_id = old.modfile_id and platform = old.platform; end`,
  `create trigger waiting_files_decided after update of status on modfile_platforms when old.status <> new.status
    begin ${OF_PLATFORM}; end`,
  `create trigger waiting_files_of_file after update of status, withdrawn on modfiles
    when old.status <> new.status or old.withdrawn <> new.withdrawn begin ${OF_FILE}; end`,
  `create trigger waiting_files_of_mod after update of status on mods
    when (old.status = 3) <> (new.status = 3) begin ${OF_MOD}; end`,
];

const onPostgres = () => {
  const doing = (name: string, body: string) =>
    `create function ${name}() returns trigger language plpgsql as $$ begin ${body}; return null; end $$`;
  const forEachRow = (name: string, event: string, when: string) =>
    `create trigger ${name} after ${event} for each row when (${when}) execute function ${name}()`;
  return [
    doing('waiting_files_added', `${waitingIn('added')} ${AGAIN}`),
    doing(
      'waiting_files_removed',
      `delete from waiting_files where modfile_id = old.modfile_id and platform = old.platform`,
    ),
    doing('waiting_files_decided', OF_PLATFORM),
    doing('waiting_files_of_file', OF_FILE),
    doing('waiting_files_of_mod', OF_MOD),
    // A bulk insert is looked at as a whole.
    `create trigger waiting_files_added after insert on modfile_platforms referencing new table as added
      for each statement execute function waiting_files_added()`,
    forEachRow('waiting_files_removed', 'delete on modfile_platforms', 'old.status = 0'),
    forEachRow('waiting_files_decided', 'update of status on modfile_platforms', 'old.status <> new.status'),
    forEachRow(
      'waiting_files_of_file',
      'update of status, withdrawn on modfiles',
      'old.status <> new.status or old.withdrawn <> new.withdrawn',
    ),
    forEachRow('waiting_files_of_mod', 'update of status on mods', '(old.status = 3) <> (new.status = 3)'),
  ];
};

/**
 * The files that wait for a platform: shown ones, of mods that are not deleted. Triggers, because processes of the last
 * release change files as well; they come before the first rows, as on PostgreSQL they keep writers out.
 */
export const waitingFiles: Migration = {
  name: '2026-11-18-waiting-files',
  up: ({ integer, text, clustered }, dialect) => [
    `create table waiting_files (
      game_id ${integer} not null references games (id),
      modfile_id ${integer} not null references modfiles (id) on delete cascade,
      platform ${text} not null,
      primary key (game_id, modfile_id, platform)
    )${clustered}`,
    'create index waiting_files_by_modfile on waiting_files (modfile_id, platform)',
    ...(dialect === 'sqlite' ? onSqlite() : onPostgres()),
    waitingIn('modfile_platforms'),
  ],
};
