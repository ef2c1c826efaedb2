import { resolve } from 'node:path';
import type { Fetcher } from '../moving/origins/fetcher.ts';
import type { Pages } from '../moving/origins/packages.ts';
import { parallelOf } from './import-modio.ts';
import { type Command, command, misuse } from './invocation/command.ts';
import { withApp } from './operator.ts';

interface Site {
  readonly name: string;
  /** What a package is called there. */
  readonly says: string;
  readonly url: string;
  /** Hosts from which the site itself serves files. */
  readonly hosts: readonly string[];
  readonly of: { readonly value: string; readonly fallback?: string; readonly says: string };
  pages(fetcher: Fetcher, of: string): Promise<Pages>;
}

/** The command that imports from a site which is no server of this API. */
export const packageImport = (site: Site): Command =>
  command({
    name: `import ${site.name}`,
    usage: `FOLDER --name GAME --of ${site.of.value} […]`,
    says: `${site.says}

FOLDER keeps what was fetched: a run that was interrupted continues, and the next one imports what has changed since.
Each package becomes a mod of the game, each version a file, and each author a placeholder without a credential.`,
    json: true,
    positionals: true,
    options: {
      name: { type: 'string', value: 'GAME', required: true, says: 'the name of the game here' },
      of: { type: 'string', value: site.of.value, says: site.of.says },
      url: { type: 'string', value: 'URL', says: `the address of the API (default: ${site.url})` },
      'allow-host': {
        type: 'string',
        value: 'HOST',
        multiple: true,
        says: 'files may also come from this host (repeatable)',
      },
      'latest-only': { type: 'boolean', says: 'only the newest version of each package' },
      'without-files': { type: 'boolean', says: 'neither versions nor pictures' },
      parallel: { type: 'string', value: 'N', says: 'requests at once, from 1 to 32 (default: 4)' },
      overwrite: { type: 'boolean', says: 'also replace and remove what was changed here since the last import' },
      'fetch-only': { type: 'boolean', says: 'write the archive and import nothing' },
      'dry-run': { type: 'boolean', says: 'fetch, count what would be taken, and import nothing' },
    },
    run: async ({ positionals, values, settings, environment, json }) => {
      const [folder, more] = positionals;
      if (folder === undefined || more !== undefined) throw misuse('Name one folder for what is fetched.');
      const of = values.of ?? site.of.fallback;
      if (of === undefined) throw misuse(`"import ${site.name}" needs --of.`);
      return withApp(settings(), environment, async (app) => {
        const { Fetcher } = await import('../moving/origins/fetcher.ts');
        const { fetchPackages } = await import('../moving/origins/packages.ts');
        const { importFetched } = await import('./import-fetched.ts');
        const { KeptConnections } = await import('../platform/egress/egress.ts');
        const connections = new KeptConnections();
        const fetcher = new Fetcher(app.egress, {
          base: values.url ?? site.url,
          hosts: [...site.hosts, ...values['allow-host']],
          parallel: parallelOf(values.parallel),
          connections,
        });
        const pages = await site.pages(fetcher, of);
        return importFetched(app, {
          folder: resolve(folder),
          source: `${fetcher.base.href}${of}`,
          powers: false,
          overwrite: values.overwrite,
          isFetchOnly: values['fetch-only'],
          isDryRun: values['dry-run'],
          isQuiet: json,
          fetch: (work, progress) =>
            fetchPackages(fetcher, work, pages, {
              game: values.name,
              isLatestOnly: values['latest-only'],
              withFiles: !values['without-files'],
              ...(progress && { progress }),
            }).finally(() => connections.close()),
        });
      });
    },
  });
