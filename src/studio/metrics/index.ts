import { resource } from '../../platform/manifest/resource.ts';
import { metricsOperations } from './operations.ts';

/** The metrics that a game's team reads and the session reports of its clients. `records/metrics` counts. */
export const gameMetrics = resource({
  name: 'game-metrics',
  operations: metricsOperations,
});
