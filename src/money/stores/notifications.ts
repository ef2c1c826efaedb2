import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { verifyToken } from '../../signin/portals/jwt.ts';
import { addressOf, objectOf, stringOf } from '../../signin/portals/platform-requests.ts';
import { type StorePortal, StoreRefusal, type StoreSettings } from './adapter.ts';
import { entitlementOf as appleEntitlementOf } from './adapters/apple.ts';
import { referenceOf as googleReferenceOf } from './adapters/google.ts';
import { APPLE_TRUST, type AppleTrust, verifyAppleSignature } from './apple-signatures.ts';
import { idOf, type Json } from './asking.ts';
import { takePurchaseBack } from './crediting.ts';
import { gamesOfStoreApp } from './settings.ts';
import * as store from './store.ts';

const DAY = 86_400;
/** Apple repeats a notification for three days. An older one is a replay. */
const APPLE_SECONDS_MAX = 7 * DAY;
/** Longer than Google keeps a message that was not accepted. */
const KEPT_SECONDS = 40 * DAY;

/** A message from a store whose origin is proven. */
export interface StoreNotification {
  readonly portal: StorePortal;
  /** The same for every repetition of the message. */
  readonly id: string;
  /** The games that it is for. */
  readonly gameIds: readonly number[];
  /** The purchase that was taken back, if the message is about one. */
  readonly reversed?: { readonly reference: string };
}

/** App Store Server Notifications, version 2: a signed payload that contains a signed transaction. */
export async function readAppleNotification(
  app: App,
  signedPayload: string,
  trust: AppleTrust = APPLE_TRUST,
): Promise<StoreNotification> {
  const payload = await appleContent(app, trust, signedPayload);
  const { notificationType, notificationUUID, signedDate } = payload;
  const data = objectOf(payload['data']);
  const isRecent = typeof signedDate === 'number' && signedDate / 1_000 > app.clock.now() - APPLE_SECONDS_MAX;
  if (!stringOf(notificationUUID) || !isRecent) throw new ApiError('USER_CALLBACK_TOKEN_FAILED_JWT_CLAIMS');
  const games = await gamesOfStoreApp(app, 'apple', stringOf(data['bundleId']));
  if (games.length === 0) throw new ApiError('USER_CALLBACK_TOKEN_FAILED_JWT_CLAIMS');
  const notification = {
    portal: 'apple' as const,
    id: stringOf(notificationUUID),
    gameIds: games.map(({ gameId }) => gameId),
  };
  const isReversal = notificationType === 'REFUND' || notificationType === 'REVOKE';
  if (!isReversal) return notification;
  const transaction = await appleContent(app, trust, stringOf(data['signedTransactionInfo']));
  const reference = appleReference(app, games[0]!.settings, transaction);
  return { ...notification, reversed: { reference } };
}

async function appleContent(app: App, trust: AppleTrust, jws: string): Promise<Json> {
  try {
    return await verifyAppleSignature(trust, jws, app.clock.now());
  } catch (cause) {
    if (cause instanceof StoreRefusal) throw new ApiError('USER_CALLBACK_TOKEN_FAILED_JWT_SIGNATURE', { cause });
    throw cause;
  }
}

function appleReference(app: App, settings: StoreSettings, transaction: Json): string {
  try {
    return appleEntitlementOf({ app, settings }, transaction).reference;
  } catch (cause) {
    if (cause instanceof StoreRefusal) throw new ApiError('USER_CALLBACK_TOKEN_FAILED_JWT_CLAIMS', { cause });
    throw cause;
  }
}

const ONE_TIME_PURCHASE = 2;

/**
 * Real-time developer notifications of Google Play, pushed by Pub/Sub. The token in the header proves the origin: it is
 * signed by Google for the audience and the service account that the game's push subscription names.
 */
export async function readGoogleNotification(app: App, authorization: string, body: Json): Promise<StoreNotification> {
  // An encrypted token (JWE) has five parts. Google signs its tokens, so there is no key to decrypt one with.
  if (/^Bearer [\w-]+(?:\.[\w-]*){4}$/.test(authorization))
    throw new ApiError('USER_CALLBACK_TOKEN_FAILED_JWE_HEADERS');
  const [, token] = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/.exec(authorization) ?? [];
  if (!token) throw new ApiError('USER_CALLBACK_TOKEN_INVALID');
  const message = objectOf(body['message']);
  const content = contentOf(stringOf(message['data']));
  const packageName = stringOf(content['packageName']);
  const gameIds = await addressees(app, packageName, token);
  const id = idOf(message['messageId']);
  if (!id) throw new ApiError('USER_CALLBACK_TOKEN_INVALID');
  const notification = { portal: 'google' as const, id, gameIds };
  const { purchaseToken, productType } = objectOf(content['voidedPurchaseNotification']);
  if (productType !== ONE_TIME_PURCHASE || !stringOf(purchaseToken)) return notification;
  const reference = googleReferenceOf(packageName, stringOf(purchaseToken));
  return { ...notification, reversed: { reference } };
}

function contentOf(data: string): Json {
  try {
    return objectOf(JSON.parse(Buffer.from(data, 'base64').toString('utf8')));
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new ApiError('USER_CALLBACK_TOKEN_INVALID', { cause });
    throw cause;
  }
}

/** Of the games that name the package, those whose subscription has sent the message. */
async function addressees(app: App, packageName: string, token: string): Promise<number[]> {
  const games = await gamesOfStoreApp(app, 'google', packageName);
  const sending: number[] = [];
  let refusal: unknown = new ApiError('USER_CALLBACK_TOKEN_FAILED_JWT_CLAIMS');
  for (const { gameId, settings } of games) {
    try {
      await requirePush(app, token, stringOf(settings['push_audience']), stringOf(settings['push_email']));
      sending.push(gameId);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusal = error;
    }
  }
  if (sending.length === 0) throw refusal;
  return sending;
}

async function requirePush(app: App, token: string, audience: string, account: string): Promise<void> {
  if (!audience || !account) throw new ApiError('USER_CALLBACK_TOKEN_FAILED_JWT_CLAIMS');
  const claims = await verifyToken(app, token, {
    keysUrl: addressOf(app, 'google', 'https://www.googleapis.com/oauth2/v3/certs'),
    algorithms: ['RS256'],
    issuers: ['https://accounts.google.com', 'accounts.google.com'],
    audiences: [audience],
    refusals: {
      invalid: 'USER_CALLBACK_TOKEN_FAILED_JWT_HEADERS',
      early: 'USER_CALLBACK_TOKEN_FAILED_JWT_CLAIMS',
      late: 'USER_CALLBACK_TOKEN_FAILED_JWT_CLAIMS',
      issuer: 'USER_CALLBACK_TOKEN_FAILED_JWT_CLAIMS',
      audience: 'USER_CALLBACK_TOKEN_FAILED_JWT_CLAIMS',
      signature: 'USER_CALLBACK_TOKEN_FAILED_JWT_SIGNATURE',
      keys: 'USER_CALLBACK_TOKEN_FAILED_HANDLER',
    },
  });
  if (claims['email'] !== account || claims['email_verified'] !== true)
    throw new ApiError('USER_CALLBACK_TOKEN_FAILED_JWT_CLAIMS');
}

/** Handles a notification once, however often the store repeats it. Returns whether it took a purchase back. */
export const handleNotification = (
  app: App,
  { portal, id, gameIds, reversed }: StoreNotification,
  takeBack = takePurchaseBack,
): Promise<boolean> =>
  app.db.write(async (transaction) => {
    const { query } = transaction;
    const now = app.clock.now();
    if (!(await store.addNotification(query, portal, id, now)) || !reversed) return false;
    const row = await store.lockFulfilmentOf(transaction, portal, reversed.reference);
    // The purchase of a game that merely names the same app is not the sender's to take back.
    if (!row || !gameIds.includes(row.game_id) || !(await store.reverse(query, row, now))) return false;
    if (row.state === 'fulfilled') await takeBack(app, transaction, row);
    return true;
  });

export const forgetNotifications = (app: App): Promise<unknown> =>
  store.forgetNotifications(app.db, app.clock.now() - KEPT_SECONDS);
