import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../test/api.ts';
import { foldMetrics } from '../records/metrics/folding.ts';
import { getGameMetrics } from '../studio/metrics/operations.ts';
import { addMetrics } from './metrics.ts';

const api = await startApi();
const DAY_MS = 86_400_000;
const METRICS = ['downloads', 'subscribers', 'active_users', 'sessions'] as const;

test('the metrics of a sample game change little from one month or quarter to the next', async () => {
  const game = await api.aGame();
  for (let count = 0; count < 5; count += 1) await api.aMod({ game });
  await addMetrics(api.app(), { gameId: game.id, seed: 'Skyfarers' });
  await foldMetrics(api.app());
  const team = await api.as(game.owner);
  const dayOf = (daysAgo: number) => new Date(api.clock.now() * 1_000 - daysAgo * DAY_MS).toISOString().slice(0, 10);
  const spanOf = async (from: number, to: number) => {
    const query = { from: dayOf(from), to: dayOf(to), _limit: 100 };
    return (await team.call(getGameMetrics, { params: { game_id: game.id }, query })).body.data;
  };
  for (const days of [30, 90]) {
    const [current, before] = [await spanOf(days - 1, 0), await spanOf(2 * days - 1, days)];
    for (const metric of METRICS) {
      const sum = (span: typeof current) => span.reduce((total, day) => total + day[metric], 0);
      const change = sum(current) / sum(before) - 1;
      assert.ok(change > -0.2 && change < 0.6, `${metric} of ${days} days: ${change}`);
    }
  }
});
