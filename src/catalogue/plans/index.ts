import { resource } from '../../platform/manifest/resource.ts';
import { plansTables } from './migrations/2026-11-16-plans.ts';
import { gameUsage } from './migrations/2026-11-18-game-usage.ts';

/** The limits of what a game may add. `studio/plans` has the operations. */
export const plans = resource({ name: 'plans', migrations: [plansTables, gameUsage] });
