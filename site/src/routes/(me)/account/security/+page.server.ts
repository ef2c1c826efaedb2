import { type RequestEvent, redirect } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { calls, numberOf, textOf } from '../../actions.ts';
import { gamesNamed } from '../games.ts';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  const api = apiOf(event);
  const [account, sessions, tokens, releases, waiting] = await Promise.all([
    api.call('GET /me/account'),
    api.call('GET /me/sessions', { _limit: 100 }),
    api.call('GET /me/tokens', { _limit: 100 }),
    api.call('GET /me/releases/confirmation'),
    api.call('GET /me/releases', { _limit: 1 }),
  ]);
  const devices = tokens.data.filter(({ client, name }) => client === null && name === null);
  const nameOf = await gamesNamed(
    api,
    devices.map(({ game_id }) => game_id),
  );
  return {
    email: account.email,
    sessions: sessions.data,
    devices: devices.map((device) => ({ ...device, game: nameOf(device.game_id) })),
    confirmsReleases: releases.wanted,
    releasesWaiting: waiting.result_total,
    // The code was asked for; the address says so, that a reload does not ask again.
    isReleaseCodeSent: event.url.searchParams.get('releases') === 'code',
    areEmailCodesSent: event.url.searchParams.get('email') === 'codes',
  };
}

const HERE = '/account/security';

/** Asks for codes by mail, and then shows the fields for them. */
async function askForEmailCodes(event: RequestEvent) {
  const form = await event.request.formData();
  const asked = await apiOf(event).attempt('POST /me/email', { email: textOf(form, 'email') });
  return asked.ok ? redirect(303, `${HERE}?email=codes#email`) : refused(asked.error, form);
}

async function askForReleaseCode(event: RequestEvent) {
  const asked = await apiOf(event).attempt('POST /me/releases/confirmation');
  return asked.ok ? redirect(303, `${HERE}?releases=code#releases`) : refused(asked.error);
}

async function signOutEverywhere(event: RequestEvent) {
  const ended = await apiOf(event).attempt('DELETE /me/sessions');
  return ended.ok ? redirect(303, '/') : refused(ended.error);
}

export const actions = {
  askEmail: askForEmailCodes,
  changeEmail: calls('PUT /me/email', 'email', (form) => ({
    new_code: textOf(form, 'new_code'),
    old_code: textOf(form, 'old_code') || undefined,
  })),
  endSession: calls('DELETE /me/sessions/{session_id}', 'session', (form) => ({
    session_id: numberOf(form, 'session_id'),
  })),
  endDevice: calls('DELETE /me/tokens/{token_id}', 'session', (form) => ({ token_id: numberOf(form, 'token_id') })),
  endAll: signOutEverywhere,
  guard: calls('PUT /me/releases/confirmation', 'releases', () => ({})),
  askRelease: askForReleaseCode,
  unguard: calls('DELETE /me/releases/confirmation', 'releases', (form) => ({ code: textOf(form, 'code') })),
};
