import { createWriteStream, existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { fileOf } from './backup.ts';
import { command, Refusal } from './invocation/command.ts';
import { filterOf, PERIOD } from './ledger-period.ts';
import { withApp } from './operator.ts';

export default command({
  name: 'ledger export',
  usage: 'FILE [--game GAME_ID] [--user USER_ID] [--from UNIX] [--until UNIX]',
  says: `Writes every posting to a CSV file, a line per entry.

Amounts are in the smallest unit; a positive one is a credit. The lines of one transaction_id sum to zero per currency.`,
  json: true,
  positionals: true,
  options: PERIOD,
  run: async ({ values, positionals, settings, environment }) => {
    const file = fileOf(positionals);
    const filter = filterOf(values);
    if (existsSync(file)) throw new Refusal(`${file} is there already; name another file.`);
    return withApp(settings(), environment, async (app) => {
      const { csvOf } = await import('../money/ledger/statements.ts');
      let lines = -1;
      const counted = async function* () {
        for await (const line of csvOf(app, filter)) {
          lines += 1;
          yield line;
        }
      };
      await pipeline(counted, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
      return { object: { file, entries: lines }, text: `Wrote ${lines} entries to ${file}.` };
    });
  },
});
