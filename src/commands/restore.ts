import { existsSync } from 'node:fs';
import { fileOf } from './backup.ts';
import { columns, command, Refusal } from './invocation/command.ts';

export default command({
  name: 'restore',
  usage: 'FILE',
  says: `Puts what "backup" wrote into the data folder, which must be empty or not there yet.

Rows of PostgreSQL go into the databases of MODSTEAD_DATABASE_URL and MODSTEAD_SANDBOX_DATABASE_URL, which must
be empty; then run "migrate".

All of it is put there or, if the backup is damaged or not whole, nothing. Sessions of uploads that were
not complete have to send their parts again. "storage check" then tells whether rows and files agree.`,
  json: true,
  positionals: true,
  options: {},
  run: async ({ positionals, ...invocation }) => {
    const file = fileOf(positionals);
    const settings = invocation.settings();
    if (!existsSync(file)) throw new Refusal(`There is no file ${file}.`);
    const { restore } = await import('./backups/restore.ts');
    const { about, files } = await restore(settings, file);
    return {
      object: { file, date: about.date, environments: about.environments, files },
      text: columns([['Restored', `${files} files and the databases, as of ${about.date}`]]),
    };
  },
});
