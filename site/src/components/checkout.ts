import type { SubmitFunction } from '$app/forms';

/**
 * Leads to the payment provider. A form cannot: the pages’ policy lets forms lead to this site alone. Without scripts the
 * page shows the address as a link.
 */
export const toCheckout: SubmitFunction =
  () =>
  async ({ result, update }) => {
    await update({ reset: false });
    const checkout = result.type === 'success' ? result.data?.['checkout'] : undefined;
    if (typeof checkout === 'string') location.assign(checkout);
  };

export const checkoutOf = (form: unknown): string | undefined =>
  form && typeof form === 'object' && 'checkout' in form ? String(form.checkout) : undefined;
