import { existsSync } from 'node:fs';
import { fileOf } from './backup.ts';
import { columns, command, Refusal } from './invocation/command.ts';

export default command({
  name: 'restore',
  usage: 'FILE',
  says: `Restores a backup into the data folder, which must be empty or missing.

PostgreSQL rows are restored into the databases of MODSTEAD_DATABASE_URL and MODSTEAD_SANDBOX_DATABASE_URL, which
must be empty; run "migrate" afterwards.

If the backup is damaged or incomplete, nothing is restored. Clients must send the parts of incomplete
uploads again. "storage check" then reports whether rows and files agree.`,
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
