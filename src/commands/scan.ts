import { columns, command, misuse, PROGRAM, Refusal } from './invocation/command.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'scan',
  usage: '--all | --status',
  says: `Lets the scanner look at every stored file again, such as after its signatures have changed.
The work is done by the jobs of the service, or of "${PROGRAM} work", and goes on after an interruption. What was clean
stays available meanwhile; where a threat is found the file is taken down.`,
  json: true,
  options: {
    all: { type: 'boolean', says: 'all files, also those that were scanned before' },
    status: { type: 'boolean', says: 'starts nothing, and tells how much is left' },
  },
  run: async ({ values, settings, environment }) => {
    if (!values.all === !values.status)
      throw misuse(`"scan" needs --all or --status; "${PROGRAM} scan --help" shows what it takes.`);
    const read = settings();
    if (!read.clamd) throw new Refusal('There is no scanner: set MODSTEAD_CLAMD to the address of clamd.');
    return withApp(read, environment, async (app) => {
      const { scanEverything, scanProgress } = await import('../files/modfiles/scans.ts');
      const { buildScanProgress, scanEveryBuild } = await import('../files/builds/scans.ts');
      if (values.status) return told(sum(await scanProgress(app), await buildScanProgress(app)));
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

function told({ files, left }: Progress) {
  const text = columns([
    ['Stored files', String(files)],
    ['Still to be scanned', String(left)],
  ]);
  return { object: { files, left }, text };
}
