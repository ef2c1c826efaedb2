import type { App } from '../../platform/app.ts';
import type { PayoutGateway } from './gateway.ts';
import { manual } from './manual.ts';
import { simulated } from './simulated.ts';
import { stripe } from './stripe.ts';

/** The provider of new payouts; undefined where none are made. In the sandbox no money moves. */
export function payoutGatewayOf({ settings: { payouts }, environment }: App): PayoutGateway | undefined {
  if (payouts === 'off') return undefined;
  if (environment === 'sandbox' || payouts === 'simulated') return simulated;
  return payouts === 'stripe' ? stripe : manual;
}

/** The provider of a payout that began earlier, whatever is configured today. */
export function payoutGatewayNamed(name: string): PayoutGateway {
  const gateway = [simulated, manual, stripe].find((each) => each.name === name);
  if (!gateway) throw new Error(`There is no payout provider "${name}".`);
  return gateway;
}
