import type { App } from '../../platform/app.ts';
import type { PaymentGateway } from './gateway.ts';
import { simulated } from './simulated.ts';

export type { PaymentGateway, PaymentOrder, PaymentState } from './gateway.ts';

/** The provider with which new payments begin; undefined where none is configured. */
export function gatewayOf({ settings, environment }: App): PaymentGateway | undefined {
  if (settings.payments === 'simulated') return simulated;
  return settings.payments === 'default' && environment === 'sandbox' ? simulated : undefined;
}

/** The provider of a payment that began earlier, whatever is configured today. */
export function gatewayNamed(name: string): PaymentGateway {
  if (name !== simulated.name) throw new Error(`There is no payment provider "${name}".`);
  return simulated;
}
