import { resource } from '../../platform/manifest/resource.ts';
import { left, SIMULATED } from '../../platform/manifest/treatment.ts';
import { simulatedPaymentsTable } from './migrations/2026-11-16-simulated-payments.ts';
import { stripePaymentsTable } from './migrations/2026-11-16-stripe-payments.ts';

export const gateways = resource({
  name: 'gateways',
  migrations: [simulatedPaymentsTable, stripePaymentsTable],
  tables: {
    simulated_payments: left(SIMULATED),
    stripe_payments: left('objects of a payment provider, which are bound to this service'),
  },
});
