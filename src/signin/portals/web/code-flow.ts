import { createHash } from 'node:crypto';
import type { App } from '../../../platform/app.ts';
import { ApiError, type ErrorName } from '../../../platform/errors/catalogue.ts';
import type { LinkedPortal } from '../../../platform/vocabulary/game-platforms.ts';
import { type Credentials, type Identity, type PortalSettings, textOf, type Verification } from '../identity.ts';
import { addressOf, form, objectOf, type PlatformAnswer, requestPlatform, stringOf } from '../platform-requests.ts';
import { failureOf } from '../probe-failures.ts';
import type { Arriving, Leaving, ProbeStep, WebFlow } from './flow.ts';

/** The answer of the token endpoint. */
export type TokenAnswer = Readonly<Record<string, unknown>>;

/** An authorization code flow (RFC 6749, section 4.1), with the differences between portals. */
export interface CodeFlow {
  readonly portal: LinkedPortal;
  /** The required settings. */
  readonly needs: readonly string[];
  /**
   * The address for browsers, which is always the portal’s own, even if the service uses another host for its requests.
   */
  readonly authorizeUrl: (settings: PortalSettings) => string;
  readonly tokenUrl: (settings: PortalSettings) => string;
  readonly scope: (settings: PortalSettings) => string;
  /** Additional parameters of the authorization request. */
  readonly also?: Readonly<Record<string, string>>;
  /** Additional parameters of the token request. */
  readonly alsoRedeeming?: Readonly<Record<string, string>>;
  readonly clientId: (settings: PortalSettings) => string;
  readonly clientSecret: (settings: PortalSettings, app: App) => string | Promise<string>;
  /** Where the secret is sent: `post` in the body, `basic` in the header, `query` in the address. */
  readonly authentication?: (settings: PortalSettings) => 'post' | 'basic' | 'query';
  /** The expected `iss` of the answer, if it has one (RFC 9207). */
  readonly issuer?: (settings: PortalSettings) => string;
  readonly userAgent?: string;
  readonly isPerGame?: boolean;
  readonly identify: (verification: Verification, answer: TokenAnswer) => Promise<Identity>;
  readonly refusals: WebFlow['refusals'] & {
    /** The portal or the user denied. */
    readonly denied: ErrorName;
    /** The browser returns without a code, or with one of another issuer. */
    readonly response: ErrorName;
    readonly unreachable: ErrorName;
    /** The portal refused the code or returned no usable token. */
    readonly token: ErrorName;
  };
}

/** The errors of portals that have none of their own. */
export const DEFAULT_ERRORS = {
  notSetUp: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
  state: 'INVALID_CSRF_TOKEN',
  denied: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
  response: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
  token: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
} as const satisfies Partial<CodeFlow['refusals']>;

/** Whether a game has all required settings and has not turned the web sign-in off. */
export const isConfigured =
  (needs: readonly string[]) =>
  (settings: PortalSettings): boolean =>
    textOf(settings, 'web') !== 'false' && needs.every((name) => settings[name] !== undefined);

export const codeFlow = (flow: CodeFlow): WebFlow => ({
  isSetUp: isConfigured(flow.needs),
  ...(flow.isPerGame && { isPerGame: true }),
  leave: (leaving) => authorizeAddress(flow, leaving),
  arrive: async (arriving) => {
    const answer = await redeem(flow, arriving, requireCode(flow, arriving));
    const { app, gameId, settings } = arriving;
    return flow.identify({ app, gameId, settings, credentials: {} }, answer);
  },
  probeSecret: (leaving) => probeSecret(flow, leaving),
  refusals: flow.refusals,
});

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

function authorizeAddress(flow: CodeFlow, { settings, state, verifier, callback }: Leaving): string {
  const address = new URL(flow.authorizeUrl(settings));
  const scope = flow.scope(settings);
  const parameters = {
    ...flow.also,
    response_type: 'code',
    client_id: flow.clientId(settings),
    redirect_uri: callback,
    ...(scope && { scope }),
    state,
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}

function requireCode(flow: CodeFlow, { settings, query }: Arriving): string {
  const { code, error, iss } = query;
  if (error !== undefined) throw new ApiError(flow.refusals.denied);
  const isOthers = iss !== undefined && flow.issuer !== undefined && iss !== flow.issuer(settings);
  if (!code || isOthers) throw new ApiError(flow.refusals.response);
  return code;
}

async function redeem(flow: CodeFlow, arriving: Arriving, code: string): Promise<TokenAnswer> {
  const { ok, body } = await requestToken(flow, arriving, code);
  if (!ok) throw new ApiError(flow.refusals.token);
  return body;
}

/** RFC 6749, section 5.2: a server that knows the client refuses the code alone. */
async function probeSecret(flow: CodeFlow, leaving: Leaving): Promise<ProbeStep> {
  try {
    const { body } = await requestToken(flow, leaving, leaving.state);
    const error = stringOf(body['error']) || stringOf(objectOf(body['error'])['type']);
    if (error === 'invalid_grant') return { step: 'secret', ok: true };
    const detail = { name: error ? 'portal_error' : 'portal_unclear' } as const;
    return { step: 'secret', ok: false, detail, original: error };
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    return { step: 'secret', ok: false, ...failureOf(cause) };
  }
}

async function requestToken(flow: CodeFlow, leaving: Leaving, code: string): Promise<PlatformAnswer> {
  const { app, settings, verifier, callback } = leaving;
  const [id, secret] = [flow.clientId(settings), await flow.clientSecret(settings, app)];
  const how = flow.authentication?.(settings) ?? 'post';
  const grant = {
    ...flow.alsoRedeeming,
    grant_type: 'authorization_code',
    code,
    redirect_uri: callback,
    code_verifier: verifier,
  };
  const fields = how === 'basic' ? grant : { ...grant, client_id: id, client_secret: secret };
  const request = how === 'query' ? { headers: { accept: 'application/json' } } : form(fields);
  const url = addressOf(app, flow.portal, flow.tokenUrl(settings));
  return requestPlatform(
    app,
    how === 'query' ? `${url}?${new URLSearchParams(fields)}` : url,
    {
      ...request,
      headers: {
        ...request.headers,
        ...(how === 'basic' && { authorization: basic(id, secret) }),
        ...(flow.userAgent && { 'user-agent': flow.userAgent }),
      },
    },
    flow.refusals.unreachable,
  );
}

/** Id and secret are form-encoded before they are joined (RFC 6749, section 2.3.1). */
const basic = (id: string, secret: string): string => {
  const encoded = [id, secret].map((text) => new URLSearchParams({ a: text }).toString().slice('a='.length));
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`;
};

/** Verifies the received token like one from a game. */
export const verifyLikeGame =
  (
    verify: (verification: Verification) => Promise<Identity>,
    name: keyof Credentials,
    field: 'access_token' | 'id_token',
  ) =>
  (verification: Verification, answer: TokenAnswer): Promise<Identity> => {
    const token = stringOf(answer[field]);
    if (!token) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
    return verify({ ...verification, credentials: { [name]: token } });
  };
