import { openApi } from '../api.ts';
import { Histories } from './histories.ts';
import { MODEL_API } from './scene.ts';

/** `node test/model/run.ts OPERATIONS SEED GAMES`: one database, in its own process; `npm run model` starts it. */
const [operations, seed, games] = process.argv.slice(2);
const { api, close } = await openApi(MODEL_API);
const histories = new Histories(api, { seed: seed!, games: Number(games) });
await histories.setUp();
const begun = process.cpuUsage();
await histories.run(Number(operations), (line) => console.log(`${line}, ${pace()}`));
const refusals = [...histories.outcomes].filter(([outcome]) => !outcome.endsWith(': 0'));
for (const [outcome, count] of [...histories.outcomes].sort()) console.log(`  ${outcome} × ${count}`);
const refused = refusals.reduce((sum, [, count]) => sum + count, 0);
const { operations: done, kinds, comparisons, verifications, jumps } = histories.figures;
console.log(`${done} operations in ${games} games with ${kinds} kinds of outcomes, ${refused} refusals, ${jumps} jumps of the clock,
${comparisons} comparisons of the wallets, owned mods and sums of a game, ${verifications} verifications of the ledger,
${pace()}, digest ${await histories.digest()}`);
await close();

function pace(): string {
  const { user, system } = process.cpuUsage(begun);
  return `${Math.round((user + system) / 1_000_000)} s of CPU`;
}
