import { dryRun, importArchive } from '../moving/importing/run.ts';
import { SourceProblem } from '../moving/origins/fetcher.ts';
import { WorkFolder } from '../moving/origins/work-folder.ts';
import type { App } from '../platform/app.ts';
import { EgressError } from '../platform/egress/egress.ts';
import { openArchive } from './archives.ts';
import { printedReport, printProgress } from './import-report.ts';
import { columns, Refusal } from './invocation/command.ts';

export interface Fetching {
  readonly folder: string;
  readonly source: string;
  readonly powers: boolean;
  readonly overwrite: boolean;
  readonly isFetchOnly: boolean;
  readonly isDryRun: boolean;
  readonly isQuiet: boolean;
  fetch(work: WorkFolder, progress: ((text: string) => void) | undefined): Promise<void>;
}

/** Fetches an archive from another service, and imports it. */
export async function importFetched(app: App, fetching: Fetching) {
  const started = performance.now();
  const work = await WorkFolder.open(fetching.folder, fetching.source);
  try {
    await fetching.fetch(work, fetching.isQuiet ? undefined : (text) => void process.stderr.write(`${text}\n`));
  } catch (error) {
    if (error instanceof SourceProblem || error instanceof EgressError)
      throw new Refusal(`The source cannot be read: ${error.message}. Run the command again to continue.`);
    throw error;
  }
  if (fetching.isFetchOnly)
    return {
      object: { archive: work.archive, problems: work.problems },
      text: columns([
        ['Fetched', work.archive],
        ...work.problems.map((problem): [string, string] => ['Missing', problem]),
      ]),
    };
  return openArchive(work.archive, async (source) => {
    const options = {
      powers: fetching.powers,
      trusted: false,
      overwrite: fetching.overwrite,
      ...(!fetching.isQuiet && { progress: printProgress() }),
    };
    const report = await (fetching.isDryRun ? dryRun : importArchive)(app, source, options);
    if (!fetching.isDryRun) await work.imported();
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    const printed = printedReport(report, { seconds, isDryRun: fetching.isDryRun });
    return {
      object: { ...printed.object, problems: work.problems },
      text: [printed.text, ...work.problems.map((problem) => `  ${problem}`)].join('\n'),
    };
  });
}
