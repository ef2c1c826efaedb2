import type { App } from '../../platform/app.ts';
import type { PaymentGateway } from './gateway.ts';
import * as store from './store.ts';

export type { SimulatedPayment } from './store.ts';

export const PAYMENT_PAGE = '/pay/{reference}';
const DELAY_SECONDS = 60;

type Choice = 'pay' | 'pay-later' | 'decline';

/** What happens to a payment with each of the simulated methods. */
const CHOICE_OF_METHOD: ReadonlyMap<string, Choice> = new Map([
  ['simulated_paid', 'pay'],
  ['simulated_delayed', 'pay-later'],
  ['simulated_declined', 'decline'],
]);

/** Moves no money. The buyer chooses on a page of this site whether the payment succeeds, fails or takes its time. */
export const simulated: PaymentGateway = {
  name: 'simulated',
  open: async (app, { reference, amount, currency, description }) => {
    const row = { reference, amount, currency, description, date_added: app.clock.now() };
    await app.db.write(async (transaction) => void (await store.add(transaction, row)));
    return simulatedAddress(app, reference);
  },
  charge: async (app, { reference, amount, currency, description }, methodId) => {
    const row = { reference, amount, currency, description, date_added: app.clock.now() };
    await app.db.write(async (transaction) => void (await store.add(transaction, row)));
    await chooseOutcome(app, reference, CHOICE_OF_METHOD.get(methodId) ?? 'decline');
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
export function chooseOutcome(app: App, reference: string, choice: Choice): Promise<boolean> {
  const due = choice === 'pay-later' ? app.clock.now() + DELAY_SECONDS : 0;
  return app.db.write((transaction) =>
    store.decide(transaction, reference, choice === 'decline' ? 'failed' : 'paid', due),
  );
}
