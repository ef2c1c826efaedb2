import type { App } from '../../context.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { forgetOld } from './metrics.ts';

export const metricsJobs: readonly JobHandler<App>[] = [{ kind: 'metrics.forget', every: 3_600, run: forgetOld }];
