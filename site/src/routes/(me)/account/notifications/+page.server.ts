import type { Input } from '@modstead/client';
import { apiOf } from '#api';
import { calls, textOf } from '../../actions.ts';
import type { PageServerLoadEvent } from './$types';

type Settings = Input<'PUT /me/settings/notifications'>;
type Kind = keyof Settings;
type AcceptFrom = Input<'PUT /me/messages/settings'>['accept_from'];

const MODES = ['off', 'site', 'email', 'digest'] as const;
/** Invitations to teams are mailed in any case. */
const modesOf = (kind: string) => (kind === 'team_invite' ? MODES.slice(0, 2) : MODES);

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const [settings, messages, account, mailings] = await Promise.all([
    api.call('GET /me/settings/notifications'),
    api.call('GET /me/messages/settings'),
    api.call('GET /me/account'),
    api.call('GET /me/mailings'),
  ]);
  return {
    kinds: (Object.keys(settings) as Kind[]).map((kind) => ({ kind, mode: settings[kind], modes: modesOf(kind) })),
    acceptFrom: messages.accept_from,
    hasEmail: account.email !== null,
    areMailingsWanted: mailings.wanted,
  };
}

const settingsOf = (form: FormData): Settings =>
  Object.fromEntries([...form].filter(([name]) => name !== 'csrf')) as Settings;

export const actions = {
  kinds: calls('PUT /me/settings/notifications', 'saved', settingsOf),
  messages: calls('PUT /me/messages/settings', 'saved', (form) => ({
    accept_from: textOf(form, 'accept_from') as AcceptFrom,
  })),
  mailings: calls('PUT /me/mailings', 'saved', (form) => ({ wanted: form.has('wanted') })),
};
