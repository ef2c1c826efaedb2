import { parseArgs } from 'node:util';
import { lastRelease, upgrade } from '../test/fleet/upgrade.ts';

const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    only: { type: 'string' },
    writers: { type: 'string', default: '4' },
    writes: { type: 'string', default: '100' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  console.log(`npm run upgrade [-- --from COMMIT --only=sqlite|postgres --writers 4 --writes 100]
Runs the service of an earlier commit (the last release) with its sample content, migrates under it, and moves clients to this
commit, back, and forth again, with both running side by side, on SQLite and on PostgreSQL. No request may fail, no answer may
be wrong, and every counter must be right at the end. --writes is the number of edits, and of subscriptions, in each of the six phases.`);
} else {
  const from = values.from ?? lastRelease();
  for (const database of values.only ? [values.only] : ['sqlite', 'postgres']) {
    process.env['MODSTEAD_TEST_DATABASE'] = database;
    const say = (line: string) => console.log(`${database}: ${line}`);
    const options = { from, writers: Number(values.writers), writes: Number(values.writes), say };
    const { acknowledged, read, failed, wrong, lost } = await upgrade(options);
    for (const line of [...lost.map((each) => `LOST ${each}`), ...wrong.map((each) => `WRONG ${each}`)]) say(line);
    say(`${acknowledged} writes and ${read} reads, ${failed} failed, ${wrong.length} wrong, ${lost.length} lost`);
    if (failed + wrong.length + lost.length > 0) process.exitCode = 1;
  }
}
