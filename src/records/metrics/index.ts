import { resource } from '../../platform/resource.ts';
import { metricsJobs } from './jobs.ts';
import { metricsOperations } from './operations.ts';
import { personalMetrics } from './personal.ts';

export const metrics = resource({
  name: 'metrics',
  operations: metricsOperations,
  jobs: metricsJobs,
  personalData: personalMetrics,
});
