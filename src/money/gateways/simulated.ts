import type { App } from '../../platform/app.ts';
import type { PaymentGateway } from './gateway.ts';
import * as store from './store.ts';

export type { SimulatedPayment } from './store.ts';

export const PAYMENT_PAGE = '/pay/{reference}';
const DELAY_SECONDS = 60;

/** Moves no money. The buyer chooses on a page of this site whether the payment succeeds, fails or takes its time. */
export const simulated: PaymentGateway = {
  name: 'simulated',
  open: async (app, { reference, amount, currency, description }) => {
    const row = { reference, amount, currency, description, date_added: app.clock.now() };
    await app.db.write(async (transaction) => void (await store.add(transaction, row)));
    return simulatedAddress(app, reference);
  },
  stateOf: async (app, reference) => {
    const payment = await store.byReference(app.db, reference);
    if (payment?.outcome === 'failed') return 'failed';
    const isPaid = payment?.outcome === 'paid' || payment?.outcome === 'refunded';
    return isPaid && payment.date_due <= app.clock.now() ? 'paid' : 'pending';
  },
  refund: (app, reference) => app.db.write(async (transaction) => void (await store.refund(transaction, reference))),
};

export const simulatedAddress = ({ addresses }: App, reference: string): string =>
  `${addresses.site}${PAYMENT_PAGE.replace('{reference}', reference)}`;

export const findSimulatedPayment = async (app: App, reference: string) => store.byReference(app.db, reference);

/** What the buyer chose on the page; false when they had chosen before. */
export function chooseOutcome(app: App, reference: string, choice: 'pay' | 'pay-later' | 'decline'): Promise<boolean> {
  const due = choice === 'pay-later' ? app.clock.now() + DELAY_SECONDS : 0;
  return app.db.write((transaction) =>
    store.decide(transaction, reference, choice === 'decline' ? 'failed' : 'paid', due),
  );
}
