import { errors, type JWTPayload, jwtVerify } from 'jose';
import type { App } from '../../platform/app.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { type KeySet, KeySetError, keySetOf, newerKeySet } from './key-sets.ts';

/** The tolerated clock skew between a platform and us. */
export const SKEW_SECONDS = 60;

export interface TokenRules {
  readonly keysUrl: string;
  /** Only these algorithms are accepted, whatever the token’s header names. */
  readonly algorithms: readonly string[];
  readonly issuers?: readonly string[];
  readonly audiences?: readonly string[];
  readonly skewSeconds?: number;
  /** Whether keys without an algorithm are ignored. */
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
    /** The error for a wrong address of the keys. */
    readonly keysAddress?: ErrorName;
  };
}

/**
 * Verifies signature, issuer, audience and time, and returns the claims. Addresses and keys in the token itself (`jku`,
 * `x5u`, `jwk`, `x5c`) are ignored.
 */
export async function verifyToken(app: App, token: string, rules: TokenRules): Promise<JWTPayload> {
  try {
    const claims = await verifyWithKeysOf(app, token, rules);
    const { iat } = claims;
    // A token issued in the future is treated like one with a future `nbf`.
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

/** Without `kid`, any of several keys may have signed the token. */
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
