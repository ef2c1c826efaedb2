import type { App } from '../platform/app.ts';
import { countForMod } from '../records/metrics/counting.ts';
import * as store from './store.ts';

const DAY = 86_400;
const DAYS = 365;
/**
 * Each counts once for a mod, with the activity of one address. They grow slowly over the year, so that a span compared
 * with the one before it has a plausible change.
 */
const changesOf = (daysAgo: number): number => Math.round(4 - (2 * daysAgo) / DAYS);
const PLATFORMS = ['windows', 'windows', 'ps5', 'linux'];

/** A year of downloads, subscriptions, ratings and sessions, so that the plots of a sample game show something. */
export async function addMetrics(app: App, { gameId, seed }: { readonly gameId: number; readonly seed: string }) {
  const mods = await store.popularModsOf(app.db.query, gameId);
  if (mods.length === 0) return;
  await app.db.write(async (transaction) => {
    for (let daysAgo = DAYS; daysAgo > 0; daysAgo -= 1) {
      const then: App = { ...app, clock: { ...app.clock, now: () => app.clock.now() - daysAgo * DAY } };
      for (let index = 0; index < changesOf(daysAgo); index += 1) {
        const chance = noise(`${seed}/${daysAgo}/${index}`);
        const mod = { id: mods[Math.floor(chance * chance * mods.length)]!.id, game_id: gameId };
        await countForMod(then, transaction, mod, countsOf(then.clock.now(), daysAgo, chance), {
          actor: {
            address: `192.0.2.${Math.floor(chance * 250)}`,
            platform: PLATFORMS[(daysAgo + index) % PLATFORMS.length],
          },
        });
      }
    }
  });
}

/** The game grows over the year, and people play more at the weekend. */
function countsOf(second: number, daysAgo: number, chance: number) {
  const growth = 1 + 2 * (1 - daysAgo / DAYS);
  const isWeekend = [0, 6].includes(new Date(second * 1000).getUTCDay());
  const busy = (growth * (isWeekend ? 1.6 : 1) * (0.7 + 0.6 * chance) * 4) / changesOf(daysAgo);
  const sessions = Math.round(30 * busy);
  return {
    downloads: Math.round(12 * busy),
    subscribers: Math.round(4 * busy) - (chance > 0.9 ? 3 : 0),
    ratings_positive: Math.round(1.5 * busy * chance),
    ratings_negative: chance > 0.8 ? 1 : 0,
    sessions,
    session_seconds: sessions * Math.round(1_200 + 2_400 * chance),
  };
}

/** A number from 0 to 1 that depends on the text alone (FNV-1a). */
function noise(text: string): number {
  let hash = 2_166_136_261;
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 16_777_619);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}
