import {
  chooseOutcome,
  findSimulatedPayment,
  PAYMENT_PAGE,
  type SimulatedPayment,
  simulated,
} from '../money/gateways/simulated.ts';
import { disputeReference, settleReference } from '../money/payments/payments.ts';
import type { App } from '../platform/app.ts';
import { html } from '../platform/http/html.ts';
import type { Page, PageAnswer, PageRequest } from '../platform/http/pages.ts';
import { localise, type TextName } from '../platform/localisation/texts.ts';
import { csrfField, layout } from './layout.ts';

const CHOICES = ['pay', 'pay-later', 'decline'] as const;

/** Where the buyer of a token pack decides what the simulated provider does. The address alone opens it. */
export const paymentPage: Page = {
  id: 'page-payment',
  path: PAYMENT_PAGE,
  limit: 30,
  get: (app, request) => shown(app, request),
  post: async (app, request) => {
    const reference = request.params['reference'] ?? '';
    const choice = CHOICES.find((each) => each === request.form['choice']);
    if (choice) await chooseOutcome(app, reference, choice);
    await settleReference(app, simulated.name, reference);
    if (request.form['choice'] === 'dispute' && (await disputeReference(app, simulated.name, reference)))
      await simulated.refund(app, reference);
    return shown(app, request);
  },
};

async function shown(app: App, request: PageRequest): Promise<PageAnswer> {
  const { language } = request;
  const payment = await findSimulatedPayment(app, request.params['reference'] ?? '');
  if (!payment) {
    const title = localise('page_payment_unknown', language);
    return { status: 404, html: layout(app, language, { title, body: html`` }) };
  }
  const { description, amount, currency } = payment;
  const title = localise('page_payment_title', language, { description });
  const price = new Intl.NumberFormat(language, { style: 'currency', currency });
  const digits = price.resolvedOptions().maximumFractionDigits ?? 2;
  const body = html`<p class="note">${localise('page_payment_simulated', language)}</p>
<p>${localise('page_payment_amount', language)}: <strong>${price.format(amount / 10 ** digits)}</strong></p>
<p role="status">${localise(STATES[payment.outcome], language)}</p>
${choices(request, payment)}
<p><a href="/account/purchases">${localise('page_continue', language)}</a></p>`;
  return { status: 200, html: layout(app, language, { title, body }) };
}

const STATES: Readonly<Record<SimulatedPayment['outcome'], TextName>> = {
  open: 'page_payment_open',
  paid: 'page_payment_paid',
  failed: 'page_payment_failed',
  refunded: 'page_payment_refunded',
};

function choices({ language, csrf }: PageRequest, { outcome, reference }: SimulatedPayment) {
  const offered: readonly (readonly [string, TextName])[] =
    outcome === 'open'
      ? [
          ['decline', 'page_payment_decline'],
          ['pay-later', 'page_payment_later'],
          ['pay', 'page_payment_pay'],
        ]
      : outcome === 'paid'
        ? [['dispute', 'page_payment_dispute']]
        : [];
  if (offered.length === 0) return undefined;
  return html`<form method="post" action="${PAYMENT_PAGE.replace('{reference}', reference)}">
${csrfField(csrf)}
<div class="actions">
${offered.map(([choice, text]) => html`<button name="choice" value="${choice}">${localise(text, language)}</button>`)}
</div>
</form>`;
}
