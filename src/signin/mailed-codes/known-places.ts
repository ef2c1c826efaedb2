import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import * as store from './store.ts';

const PLACES_MAX = 20;
const REMEMBER_SECONDS = 180 * 86_400;

/** Properties of a request that identify its origin. */
export interface OriginMarks {
  /** The network and key of an API client. */
  readonly network?: { readonly keyId: number; readonly network: string } | undefined;
  /** The handle of a code that was redeemed on this device. */
  readonly handle?: string | undefined;
  /** The cookie of an earlier sign-in in this browser. */
  readonly browser?: string | undefined;
}

function digestsOf(app: App, { network, handle, browser }: OriginMarks): string[] {
  const texts = [
    ...(handle === undefined ? [] : [`handle ${handle}`]),
    ...(browser === undefined ? [] : [`browser ${browser}`]),
    ...(network === undefined ? [] : [`network ${network.keyId} ${network.network}`]),
  ];
  return texts.map((text) => app.secrets.digest(text));
}

/** The most specific place from which the owner of the mailbox has signed in before. */
export async function knownPlace(
  app: App,
  { query }: Transaction,
  email: string,
  marks: OriginMarks,
): Promise<string | undefined> {
  const digests = digestsOf(app, marks);
  if (digests.length === 0) return undefined;
  const known = await store.knownAmong(query, email, digests);
  return digests.find((digest) => known.includes(digest));
}

export async function rememberPlaces(
  app: App,
  { query }: Transaction,
  userId: number,
  marks: OriginMarks,
): Promise<void> {
  for (const digest of digestsOf(app, marks)) await store.addKnownPlace(query, userId, digest, app.clock.now());
  await store.trimKnownPlaces(query, userId, PLACES_MAX);
}

export const forgetOldPlaces = (app: App, { query }: Transaction) =>
  store.forgetKnownPlaces(query, app.clock.now() - REMEMBER_SECONDS);
