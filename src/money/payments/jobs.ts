import type { App } from '../../platform/app.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { REFUND_AT_PROVIDER, refundAtProvider, settlePending } from './payments.ts';

const MINUTE = 60;

export const paymentJobs: readonly JobHandler<App>[] = [
  { kind: REFUND_AT_PROVIDER, run: refundAtProvider },
  { kind: 'payments.settle', every: MINUTE, run: (app, _, { heartbeat }) => settlePending(app, heartbeat) },
];
