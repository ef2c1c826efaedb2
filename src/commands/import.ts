import { resolve } from 'node:path';
import { command, misuse } from './invocation/command.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'import',
  usage: 'FOLDER|FILE.tar [--with-powers] [--trust] [--overwrite] [--dry-run]',
  says: `Imports an archive: one of "export", or one that anyone wrote by docs/import-format.md.

An empty service takes everything with its ids, dates and orders. Another one gives new ids to rows whose ids are
taken; the old ids of games and mods then still answer where nothing else has them.
An interrupted import continues where it stopped, a complete one is not repeated, and a newer archive of the same
source updates what the older one brought, except what was changed here since.`,
  json: true,
  positionals: true,
  options: {
    'with-powers': { type: 'boolean', says: 'also take staff, administrators and the teams of games' },
    trust: { type: 'boolean', says: 'take the results of virus scans as they are, instead of scanning again' },
    overwrite: { type: 'boolean', says: 'also replace and remove what was changed here since the last import' },
    'dry-run': { type: 'boolean', says: 'count what would be taken, and write nothing' },
  },
  run: async ({ positionals, values, settings, environment, json }) => {
    const [path, more] = positionals;
    if (path === undefined || more !== undefined) throw misuse('Name one folder or tar file.');
    const { openArchive } = await import('./archives.ts');
    const { dryRun, importArchive } = await import('../moving/importing/run.ts');
    const { printedReport, printProgress } = await import('./import-report.ts');
    return withApp(settings(), environment, (app) =>
      openArchive(resolve(path), async (source) => {
        const options = {
          powers: values['with-powers'],
          trusted: values.trust,
          overwrite: values.overwrite,
          ...(!json && { progress: printProgress() }),
        };
        const started = performance.now();
        const report = await (values['dry-run'] ? dryRun : importArchive)(app, source, options);
        const seconds = Math.round((performance.now() - started) / 100) / 10;
        return printedReport(report, { seconds, isDryRun: values['dry-run'] });
      }),
    );
  },
});
