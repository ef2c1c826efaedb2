import { type Caller, NOBODY } from '../access/caller.ts';
import type { App } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Limiter, RateLimitBucket } from '../limits/limits.ts';
import { trafficObservers } from '../telemetry/traffic.ts';
import { limitedAddress } from './address.ts';
import type { Exchange, Tenant } from './exchange.ts';
import type { AnyOperation } from './operation.ts';

type Limits = Exclude<Settings['rateLimits'], 'off'>;

/** The buckets that one request counts against: its address's, its caller's and the operation's. */
export function addressBuckets(limits: Limits, ip: string, isWrite: boolean): RateLimitBucket[] {
  const address = limitedAddress(ip);
  const buckets = [{ name: `a/${address}`, perMinute: limits.address }];
  if (isWrite) buckets.push({ name: `aw/${address}`, perMinute: limits.address_writes });
  return buckets;
}

/** A game's key is unlimited, a user's key has its own bucket, and tokens share their user's. */
export function callerBuckets(limits: Limits, caller: Caller, isWrite: boolean): RateLimitBucket[] {
  if (caller.kind === 'key' && caller.server)
    return [{ name: `t/${caller.server.tokenId}`, perMinute: caller.server.requestsPerMinute ?? limits.token }];
  if (caller.kind === 'key')
    return caller.userId === undefined ? [] : [{ name: `k/${caller.keyId}`, perMinute: limits.user_key }];
  const service = caller.kind === 'user' ? caller.service : caller;
  if (service?.kind === 'service') return [{ name: `s/${service.clientId}`, perMinute: limits.token }];
  if (caller.kind !== 'user') return [];
  const buckets = [{ name: `u/${caller.userId}`, perMinute: limits.token }];
  if (isWrite) buckets.push({ name: `uw/${caller.userId}`, perMinute: limits.token_writes });
  return buckets;
}

export function operationBuckets(
  limits: Limits,
  operation: { id: string; limit?: number | undefined },
  caller: Caller,
  ip: string,
): RateLimitBucket[] {
  const perMinute = limits.operations[operation.id] ?? operation.limit;
  if (perMinute === undefined) return [];
  const who = caller.kind === 'user' && !caller.service ? `u${caller.userId}` : limitedAddress(ip);
  return [{ name: `o/${operation.id}/${who}`, perMinute }];
}

type Taker = Pick<Exchange, 'tenant' | 'ip' | 'caller' | 'visitor'>;

/** Counts the request against its address, also when it fails later. Waits only when a lease must be fetched. */
export function takeForAddress(limits: Settings['rateLimits'], taker: Taker, isWrite: boolean): void | Promise<void> {
  if (limits !== 'off') return take(taker.tenant, addressBuckets(limits, taker.ip, isWrite), 'RATE_LIMITED');
}

export function takeForCaller(
  limits: Settings['rateLimits'],
  { tenant, ip, caller, visitor }: Taker,
  { declaration }: AnyOperation,
): void | Promise<void> {
  if (limits === 'off') return;
  const { access, method } = declaration;
  const isWrite = method !== 'GET' && !(access.kind === 'reader' && access.byPost);
  // A page reads several times, so its reads count for the visitor's address alone.
  const ofCaller =
    visitor && !isWrite ? undefined : take(tenant, callerBuckets(limits, caller, isWrite), 'RATE_LIMITED');
  const ofOperation = () => take(tenant, operationBuckets(limits, declaration, caller, ip), 'RATE_LIMITED_ENDPOINT');
  return ofCaller ? ofCaller.then(ofOperation) : ofOperation();
}

/** Page forms count against the address, because nobody is signed in yet. */
export function takeForPage(
  limits: Settings['rateLimits'],
  { tenant, ip }: Taker,
  page: { id: string; limit?: number | undefined },
): void | Promise<void> {
  if (limits !== 'off') return take(tenant, operationBuckets(limits, page, NOBODY, ip), 'RATE_LIMITED_ENDPOINT');
}

function take(
  tenant: Tenant,
  buckets: readonly RateLimitBucket[],
  refusal: 'RATE_LIMITED' | 'RATE_LIMITED_ENDPOINT',
): void | Promise<void> {
  const { app, limiter } = tenant;
  if (limiter && buckets.length > 0 && !limiter.tryTake(buckets)) return waitFor(app, limiter, buckets, refusal);
}

async function waitFor(
  app: App,
  limiter: Limiter,
  buckets: readonly RateLimitBucket[],
  refusal: 'RATE_LIMITED' | 'RATE_LIMITED_ENDPOINT',
): Promise<void> {
  const verdict = await limiter.take(buckets);
  if (verdict.allowed) return;
  for (const each of app.extensions.of(trafficObservers)) each.onLimited(app, verdict.bucket.name);
  throw new ApiError(refusal, { retryAfterSeconds: verdict.retryAfterSeconds });
}
