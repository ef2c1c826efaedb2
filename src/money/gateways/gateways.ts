import type { App } from '../../platform/app.ts';
import type { PaymentGateway } from './gateway.ts';
import { simulated } from './simulated.ts';
import { stripe } from './stripe.ts';

export type { PaymentGateway, PaymentOrder, PaymentState } from './gateway.ts';

/** The provider with which new payments begin; undefined where none is configured. In the sandbox no money moves. */
export function gatewayOf({ settings: { payments }, environment }: App): PaymentGateway | undefined {
  if (payments === 'stripe' && environment === 'production') return stripe;
  if (payments === 'off' || (payments === 'default' && environment === 'production')) return undefined;
  return simulated;
}

/** The provider of a payment that began earlier, whatever is configured today. */
export function gatewayNamed(name: string): PaymentGateway {
  const gateway = [simulated, stripe].find((each) => each.name === name);
  if (!gateway) throw new Error(`There is no payment provider "${name}".`);
  return gateway;
}
