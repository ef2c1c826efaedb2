import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { columns, command, idOf, misuse, Refusal } from './invocation/command.ts';
import { requireKnownGame, withApp } from './operator.ts';

export default command({
  name: 'export',
  usage: 'FOLDER|FILE.tar|- [--game GAME_ID] [--with-people]',
  says: `Writes content, files, people, the ledger and the audit log as a signed archive that "import" reads.

The archive is a folder, a tar file, or with "-" a tar stream on standard output; docs/import-format.md describes it.
It is one consistent snapshot, also while the service runs. Keys, tokens and other secrets are not part of it.
With --game it contains one game and the public profiles of the people whom its rows name.`,
  json: true,
  positionals: true,
  options: {
    game: { type: 'string', value: 'GAME_ID', says: 'only this game' },
    'with-people': {
      type: 'boolean',
      says: 'with --game: also addresses, portal accounts, subscriptions, ratings and votes',
    },
  },
  run: async ({ positionals, values, settings, environment, json }) => {
    const [target, more] = positionals;
    if (target === undefined || more !== undefined) throw misuse('Name one folder or tar file, or "-".');
    const isStream = target === '-';
    const path = isStream ? target : resolve(target);
    if (!isStream && existsSync(path)) throw new Refusal(`${path} already exists; name another one.`);
    const game = values.game === undefined ? undefined : idOf(values.game, '--game');
    return withApp(settings(), environment, async (app) => {
      if (game !== undefined) await requireKnownGame(app, game);
      const { folderSink, tarSink } = await import('../moving/archive/sink.ts');
      const { exportArchive } = await import('../moving/exporting/export.ts');
      const isTar = isStream || path.endsWith('.tar');
      const sink = await (isTar ? tarSink(path, app.clock.now()) : folderSink(path));
      const progress = json ? undefined : printProgress();
      try {
        const people = values['with-people'];
        const done = await exportArchive(app, sink, { game, people, ...(progress && { progress }) });
        await sink.finish();
        // Standard output is the archive itself.
        if (isStream) return undefined;
        const { publicKey, missing, ...counted } = done;
        return {
          object: { archive: path, ...counted, missing, public_key: publicKey },
          text: columns([
            ['Exported', `${counted.rows} rows and ${counted.files} files to ${path}`],
            ...(missing.length > 0
              ? [['Missing', `${missing.length} files that rows name; the manifest lists them`] as const]
              : []),
            ['Signed by', publicKey],
          ]),
        };
      } catch (error) {
        await sink.abandon();
        throw error;
      }
    });
  },
});

const ROWS_PER_LINE = 10_000;

/** Prints the progress, because this can take minutes. */
function printProgress(): (table: string, rows: number) => void {
  let printed = 0;
  return (table, rows) => {
    if (rows - printed < ROWS_PER_LINE) return;
    process.stderr.write(`${rows} rows, ${table}\n`);
    printed = rows;
  };
}
