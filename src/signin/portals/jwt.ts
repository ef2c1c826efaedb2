import { errors, type JWTPayload, jwtVerify } from 'jose';
import type { App } from '../../platform/app.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { type KeySet, KeySetError, keySetOf, newerKeySet } from './key-sets.ts';

/** How far the clocks of a platform and ours may differ. */
export const SKEW_SECONDS = 60;

export interface TokenRules {
  readonly keysUrl: string;
  /** Only these are looked at, whatever the token says about itself. */
  readonly algorithms: readonly string[];
  readonly issuers?: readonly string[];
  readonly audiences?: readonly string[];
  readonly skewSeconds?: number;
  /** Keys that do not say for which algorithm they are, are left aside. */
  readonly algRequired?: boolean;
  readonly claimsRequired?: readonly string[];
  readonly refusals: {
    readonly invalid: ErrorName;
    readonly early: ErrorName;
    readonly late: ErrorName;
    readonly issuer?: ErrorName;
    readonly audience?: ErrorName;
    readonly signature?: ErrorName;
    readonly keys: ErrorName;
    /** Where it is the address of the keys that is wrong. */
    readonly keysAddress?: ErrorName;
  };
}

/**
 * The claims of a token that the issuer has signed, for us and for now. Addresses and keys that the token names itself
 * (`jku`, `x5u`, `jwk`, `x5c`) are never looked at.
 */
export async function verifyToken(app: App, token: string, rules: TokenRules): Promise<JWTPayload> {
  try {
    const claims = await verifyWithKeysOf(app, token, rules);
    const { iat } = claims;
    // A token from the future is as suspect as one that says so by `nbf`.
    if (typeof iat === 'number' && iat > app.clock.now() + skewOf(rules)) throw new ApiError(rules.refusals.early);
    return claims;
  } catch (cause) {
    throw cause instanceof ApiError ? cause : new ApiError(refusalOf(cause, rules), { cause });
  }
}

const skewOf = ({ skewSeconds = SKEW_SECONDS }: TokenRules) => skewSeconds;

async function verifyWithKeysOf(app: App, token: string, rules: TokenRules): Promise<JWTPayload> {
  const { keysUrl, algRequired = false } = rules;
  const set = await keySetOf(app, keysUrl, algRequired);
  try {
    return await verifyWith(app, token, rules, set);
  } catch (error) {
    if (!isAboutKeys(error)) throw error;
    const newer = await newerKeySet(app, keysUrl, algRequired, set);
    if (!newer) throw error;
    return verifyWith(app, token, rules, newer);
  }
}

const isAboutKeys = (error: unknown) =>
  error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;

async function verifyWith(app: App, token: string, rules: TokenRules, { keys }: KeySet): Promise<JWTPayload> {
  const { algorithms, issuers, audiences, claimsRequired = [] } = rules;
  const options = {
    algorithms: [...algorithms],
    ...(issuers && { issuer: [...issuers] }),
    ...(audiences && { audience: [...audiences] }),
    requiredClaims: ['exp', ...claimsRequired],
    clockTolerance: skewOf(rules),
    currentDate: new Date(app.clock.now() * 1_000),
  };
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    return (await jwtVerify(token, await fittingKey(token, error, options), options)).payload;
  }
}

type Options = NonNullable<Parameters<typeof jwtVerify>[2]>;

/** A token without `kid` may be signed by any of several keys. */
async function fittingKey(token: string, candidates: errors.JWKSMultipleMatchingKeys, options: Options) {
  for await (const key of candidates) {
    try {
      await jwtVerify(token, key, options);
      return key;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) return key;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}

function refusalOf(error: unknown, { refusals }: TokenRules): ErrorName {
  if (error instanceof KeySetError) return (error.misconfigured && refusals.keysAddress) || refusals.keys;
  if (error instanceof errors.JWTExpired) return refusals.late;
  if (isAboutKeys(error)) return refusals.signature ?? refusals.invalid;
  if (!(error instanceof errors.JWTClaimValidationFailed)) return refusals.invalid;
  if (error.reason === 'missing') return refusals.invalid;
  const byClaim: Record<string, ErrorName | undefined> = {
    nbf: refusals.early,
    iss: refusals.issuer,
    aud: refusals.audience,
  };
  return byClaim[error.claim] ?? refusals.invalid;
}
