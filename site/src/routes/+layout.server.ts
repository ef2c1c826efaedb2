import { apiOf } from '#api';
import { siteLanguageOf } from '#language';
import type { LayoutServerLoadEvent } from './$types';
import { openAgreements } from './agreements.ts';

export async function load(event: LayoutServerLoadEvent) {
  event.depends('modstead:unread');
  const platform = event.platform!;
  const { name, summary, icon, style_url } = await apiOf(event).call('GET /site');
  return {
    site: { name, summary, icon: icon?.thumb_128x128, style: style_url ?? undefined },
    language: siteLanguageOf(event),
    origin: platform.origin,
    isSandbox: platform.environment === 'sandbox',
    ...(platform.isSignedIn ? await visitorOf(event) : NOBODY),
  };
}

const NOBODY = {
  me: undefined,
  formToken: undefined,
  unread: { notifications: 0, messages: 0 },
  hasNewTerms: false,
};

async function visitorOf(event: LayoutServerLoadEvent) {
  const api = apiOf(event);
  const [me, notifications, messages, agreements] = await Promise.all([
    api.call('GET /me'),
    api.call('GET /me/notifications', { is_read: 0, _limit: 1 }),
    api.call('GET /me/messages/unread'),
    openAgreements(event),
  ]);
  return {
    me,
    formToken: event.platform!.formToken,
    unread: { notifications: notifications.result_total, messages: messages.messages + messages.invites },
    hasNewTerms: agreements.length > 0,
  };
}
