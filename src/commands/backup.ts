import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { columns, command, misuse, Refusal } from './invocation/command.ts';

export default command({
  name: 'backup',
  usage: 'FILE',
  says: `Writes databases, files and keys to one file, also while the service runs.

The file is a tar archive that ends with its hash; "restore" unpacks it into an empty data folder.
It contains production and sandbox, or with --sandbox the sandbox alone. It contains every key: protect it
like the data folder. It does not contain files in a bucket (MODSTEAD_STORAGE_URL).
Of a PostgreSQL database it contains the rows; use PostgreSQL's own tools for a large one (docs/operations.md).`,
  json: true,
  positionals: true,
  options: {},
  run: async ({ positionals, sandbox, ...invocation }) => {
    const file = fileOf(positionals);
    const settings = invocation.settings();
    if (existsSync(file)) throw new Refusal(`${file} already exists; name another file.`);
    const { ENVIRONMENTS } = await import('../composition/compose.ts');
    const { save } = await import('./backups/save.ts');
    const { files, bytes } = await save(settings, sandbox ? ['sandbox'] : ENVIRONMENTS, file);
    return {
      object: { file, files, bytes },
      text: columns([['Saved', `${files} files and the databases to ${file}`]]),
    };
  },
});

export function fileOf(positionals: readonly string[]): string {
  const [file, more] = positionals;
  if (file === undefined || more !== undefined) throw misuse('Name one file, such as modstead.tar.');
  return resolve(file);
}
