import type { Caller } from '../access/caller.ts';
import type { Settings } from '../config/settings.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Demand, Limiter } from '../limits/limits.ts';
import { limitedAddress } from './address.ts';

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
  const who = caller.kind === 'user' ? `u${caller.userId}` : limitedAddress(ip);
  return [{ bucket: `o/${operation.id}/${who}`, perMinute }];
}

export async function take(
  limiter: Limiter,
  demands: readonly Demand[],
  refusal: 'RATE_LIMITED' | 'RATE_LIMITED_ENDPOINT',
): Promise<void> {
  if (demands.length === 0 || limiter.tryTake(demands)) return;
  const verdict = await limiter.take(demands);
  if (!verdict.allowed) throw new ApiError(refusal, { retryAfterSeconds: verdict.retryAfterSeconds });
}
