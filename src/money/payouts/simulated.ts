import type { PayoutGateway, PayoutOrder, PayoutState } from './gateway.ts';
import * as store from './store.ts';

const DELAY_SECONDS = 60;
const RETURN_SECONDS = 86_400;

type Outcome = store.SimulatedPayout['outcome'];

/** What happens to payouts of a seller who registered these `payout_details`. All others arrive. */
const OUTCOME_OF_DETAILS: ReadonlyMap<string, Outcome> = new Map([
  ['simulated_failed', 'failed'],
  ['simulated_returned', 'returned'],
]);

function stateOf({ outcome, date_due }: store.SimulatedPayout, now: number): PayoutState {
  if (now < date_due) return 'sent';
  if (outcome === 'returned') return now < date_due + RETURN_SECONDS ? 'paid' : 'failed';
  return outcome;
}

/** Moves no money. The payout arrives after a minute, or fails, as the seller's details say. */
export const simulated: PayoutGateway = {
  name: 'simulated',
  openAccount: async (_, { details }) => OUTCOME_OF_DETAILS.get(details) ?? 'paid',
  onboardingUrl: async () => '',
  isReady: async () => true,
  send: async (app, { reference, amount, currency, account }: PayoutOrder) => {
    const now = app.clock.now();
    const row = { reference, amount, currency, outcome: account as Outcome, date_due: now + DELAY_SECONDS };
    await app.db.write(async ({ query }) => void (await store.addSimulated(query, { ...row, date_added: now })));
    return reference;
  },
  stateOf: async (app, { reference }) => {
    const payout = await store.simulatedByReference(app.db, reference);
    return payout ? stateOf(payout, app.clock.now()) : 'sent';
  },
  recall: async () => {},
};
