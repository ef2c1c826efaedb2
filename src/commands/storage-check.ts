import type { Found, Inventory } from '../platform/storage/inventory.ts';
import { columns, command } from './invocation/command.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'storage check',
  usage: '[--repair] [--verify]',
  says: `Compares the database with the stored files.

It finds rows whose files are missing or have a wrong length, and files that no row names. It may run
beside a service, and changes nothing without --repair. With it, mod files without intact bytes are
withdrawn, uploads that lost their bytes are cancelled, and files that no row names are removed (mod files
and images by a job an hour later). Only its owner can upload a missing image again.
The exit code is 1 if a problem remains.`,
  json: true,
  options: {
    repair: { type: 'boolean', says: 'repair what can be repaired' },
    verify: { type: 'boolean', says: 'also read every file whose hash is known, and compare' },
  },
  run: async ({ values: { repair, verify }, settings, environment, json }) =>
    withApp(settings(), environment, async (app) => {
      const { storedObjects } = await import('../composition/resources.ts');
      const { takeInventory } = await import('../platform/storage/inventory.ts');
      const progress = json ? undefined : printProgress;
      const { looked, found } = await takeInventory(app, storedObjects, {
        repair,
        verify,
        ...(progress && { progress }),
      });
      const left = found.filter(({ repaired }) => !repaired).length;
      return {
        object: { looked, found, repaired: found.length - left },
        text: toText({ looked, found }, left),
        exitCode: left > 0 ? 1 : 0,
      };
    }),
});

const STEP = 10_000;

/** Prints the progress, because this can take hours. */
function printProgress(looked: number): void {
  if (looked % STEP === 0) process.stderr.write(`${looked} rows and files checked\n`);
}

function toText({ looked, found }: Inventory, left: number): string {
  const lines = found.map(lineOf);
  const sum =
    found.length === 0
      ? 'All is well.'
      : `${found.length} found, ${found.length - left} of them repaired; ${looked} rows and files checked.`;
  return [...(lines.length > 0 ? [columns(lines), ''] : []), sum].join('\n');
}

const lineOf = ({ trouble, key, owner, repaired }: Found) =>
  [`${repaired ? '✓' : '✗'} ${trouble}`, owner ? `${key}, ${owner}` : key] as const;
