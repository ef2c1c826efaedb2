import { type Caller, NOBODY } from '../access/caller.ts';
import type { Settings } from '../config/settings.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Demand, Limiter } from '../limits/limits.ts';
import { limitedAddress } from './address.ts';
import type { Exchange } from './exchange.ts';
import type { AnyOperation } from './operation.ts';

type Limits = Exclude<Settings['rateLimits'], 'off'>;

/** What one request takes from the limits: from its address, its caller, and the operation. */
export function addressDemands(limits: Limits, ip: string, isWrite: boolean): Demand[] {
  const address = limitedAddress(ip);
  const demands = [{ bucket: `a/${address}`, perMinute: limits.address }];
  if (isWrite) demands.push({ bucket: `aw/${address}`, perMinute: limits.address_writes });
  return demands;
}

/** Keys of games are not limited; those of people are, and tokens are counted by person. */
export function callerDemands(limits: Limits, caller: Caller, isWrite: boolean): Demand[] {
  if (caller.kind === 'key')
    return caller.userId === undefined ? [] : [{ bucket: `k/${caller.keyId}`, perMinute: limits.user_key }];
  const service = caller.kind === 'user' ? caller.service : caller;
  if (service?.kind === 'service') return [{ bucket: `s/${service.clientId}`, perMinute: limits.token }];
  if (caller.kind !== 'user') return [];
  const demands = [{ bucket: `u/${caller.userId}`, perMinute: limits.token }];
  if (isWrite) demands.push({ bucket: `uw/${caller.userId}`, perMinute: limits.token_writes });
  return demands;
}

export function operationDemands(
  limits: Limits,
  operation: { id: string; limit?: number | undefined },
  caller: Caller,
  ip: string,
): Demand[] {
  const perMinute = limits.operations[operation.id] ?? operation.limit;
  if (perMinute === undefined) return [];
  const who = caller.kind === 'user' && !caller.service ? `u${caller.userId}` : limitedAddress(ip);
  return [{ bucket: `o/${operation.id}/${who}`, perMinute }];
}

type Taker = Pick<Exchange, 'tenant' | 'ip' | 'caller'>;

/** Every request counts for its address, also one that then fails. Waits only where a lease has to be fetched. */
export function takeForAddress(limits: Settings['rateLimits'], taker: Taker, isWrite: boolean): void | Promise<void> {
  const { limiter } = taker.tenant;
  if (limiter && limits !== 'off') return take(limiter, addressDemands(limits, taker.ip, isWrite), 'RATE_LIMITED');
}

export function takeForCaller(
  limits: Settings['rateLimits'],
  { tenant, ip, caller }: Taker,
  { declaration }: AnyOperation,
): void | Promise<void> {
  const { limiter } = tenant;
  if (!limiter || limits === 'off') return;
  const ofCaller = take(limiter, callerDemands(limits, caller, declaration.method !== 'GET'), 'RATE_LIMITED');
  const ofOperation = () => take(limiter, operationDemands(limits, declaration, caller, ip), 'RATE_LIMITED_ENDPOINT');
  return ofCaller ? ofCaller.then(ofOperation) : ofOperation();
}

/** Forms of pages are counted for their address: nobody has signed in yet. */
export function takeForPage(
  limits: Settings['rateLimits'],
  { tenant, ip }: Taker,
  page: { id: string; limit?: number | undefined },
): void | Promise<void> {
  const { limiter } = tenant;
  if (limiter && limits !== 'off')
    return take(limiter, operationDemands(limits, page, NOBODY, ip), 'RATE_LIMITED_ENDPOINT');
}

function take(
  limiter: Limiter,
  demands: readonly Demand[],
  refusal: 'RATE_LIMITED' | 'RATE_LIMITED_ENDPOINT',
): void | Promise<void> {
  if (demands.length > 0 && !limiter.tryTake(demands)) return waitFor(limiter, demands, refusal);
}

async function waitFor(
  limiter: Limiter,
  demands: readonly Demand[],
  refusal: 'RATE_LIMITED' | 'RATE_LIMITED_ENDPOINT',
): Promise<void> {
  const verdict = await limiter.take(demands);
  if (!verdict.allowed) throw new ApiError(refusal, { retryAfterSeconds: verdict.retryAfterSeconds });
}
