import { apiOf } from '#api';
import { languageOf } from '#texts';
import type { LayoutServerLoadEvent } from './$types';

export async function load(event: LayoutServerLoadEvent) {
  const platform = event.platform!;
  return {
    language: languageOf(platform.language),
    isSandbox: platform.environment === 'sandbox',
    me: platform.isSignedIn ? await apiOf(event).call('GET /me') : undefined,
    formToken: platform.isSignedIn ? platform.formToken : undefined,
  };
}
