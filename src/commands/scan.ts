import { columns, command, misuse, PROGRAM, Refusal } from './invocation/command.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'scan',
  usage: '--all | --status',
  says: `Scans every stored file again, for example after an update of the signatures.
The jobs of the service, or of "${PROGRAM} work", do the work and resume it after an interruption. Clean files stay
available meanwhile; a file with a threat is taken down.`,
  json: true,
  options: {
    all: { type: 'boolean', says: 'scan all files, also those that were scanned before' },
    status: { type: 'boolean', says: 'start nothing, and print how many files are left' },
  },
  run: async ({ values, settings, environment }) => {
    if (!values.all === !values.status)
      throw misuse(`"scan" needs --all or --status; "${PROGRAM} scan --help" shows what it takes.`);
    const read = settings();
    if (!read.clamd) throw new Refusal('There is no scanner: set MODSTEAD_CLAMD to the address of clamd.');
    return withApp(read, environment, async (app) => {
      const { scanEverything, scanProgress } = await import('../files/modfiles/scans.ts');
      const { buildScanProgress, scanEveryBuild } = await import('../files/builds/scans.ts');
      if (values.status) return progressOutput(sum(await scanProgress(app), await buildScanProgress(app)));
      const files = (await scanEverything(app)) + (await scanEveryBuild(app));
      return { object: { files }, text: columns([['Will be scanned', `${files} stored files`]]) };
    });
  },
});

interface Progress {
  readonly files: number;
  readonly left: number;
}

const sum = (one: Progress, other: Progress): Progress => ({
  files: one.files + other.files,
  left: one.left + other.left,
});

function progressOutput({ files, left }: Progress) {
  const text = columns([
    ['Stored files', String(files)],
    ['Still to be scanned', String(left)],
  ]);
  return { object: { files, left }, text };
}
