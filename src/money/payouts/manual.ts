import type { PayoutGateway } from './gateway.ts';

const decided = (): never => {
  throw new Error('Staff decides over payouts that are made by hand.');
};

/** The accountant pays by bank transfer, and staff records what became of it. */
export const manual: PayoutGateway = {
  name: 'manual',
  openAccount: async () => '',
  onboardingUrl: async () => '',
  isReady: async () => true,
  send: async () => decided(),
  stateOf: async () => decided(),
  recall: async () => {},
};
