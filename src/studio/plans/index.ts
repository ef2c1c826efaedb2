import { resource } from '../../platform/manifest/resource.ts';
import { planOperations } from './operations.ts';

/** Who sets the limits of games. `catalogue/plans` enforces them. */
export const planSettings = resource({ name: 'plan-settings', operations: planOperations });
