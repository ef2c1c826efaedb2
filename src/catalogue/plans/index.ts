import { resource } from '../../platform/manifest/resource.ts';
import { rebuilt, service } from '../../platform/manifest/treatment.ts';
import { plansTables } from './migrations/2026-11-16-plans.ts';
import { gameUsage } from './migrations/2026-11-18-game-usage.ts';

/** The limits of what a game may add. `studio/plans` has the operations. */
export const plans = resource({
  name: 'plans',
  migrations: [plansTables, gameUsage],
  tables: {
    plans: service({ notOfGames: true }),
    game_plans: service(),
    game_usage: rebuilt('triggers of the tables mods and modfiles'),
  },
});
