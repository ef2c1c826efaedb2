import { resource } from '../../platform/manifest/resource.ts';
import { metricsJobs } from './jobs.ts';
import { personalMetrics } from './personal.ts';

export const metrics = resource({
  name: 'metrics',
  jobs: metricsJobs,
  personalData: personalMetrics,
});
