import { resource } from '../../platform/manifest/resource.ts';
import { simulatedPaymentsTable } from './migrations/2026-11-16-simulated-payments.ts';

export const gateways = resource({ name: 'gateways', migrations: [simulatedPaymentsTable] });
