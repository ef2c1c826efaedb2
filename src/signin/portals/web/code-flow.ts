import { createHash } from 'node:crypto';
import type { App } from '../../../platform/app.ts';
import { ApiError, type ErrorName } from '../../../platform/errors/catalogue.ts';
import type { LinkedPortal } from '../../../platform/vocabulary/game-platforms.ts';
import { addressOf, askPlatform, form, stringOf } from '../asking.ts';
import { type Asking, type Credentials, type Identity, type PortalSettings, textOf } from '../identity.ts';
import type { Arriving, Leaving, WebFlow } from './flow.ts';

/** What the token endpoint answered. */
export type TokenAnswer = Readonly<Record<string, unknown>>;

/** An authorization code flow (RFC 6749, section 4.1), as far as portals differ in it. */
export interface CodeFlow {
  readonly portal: LinkedPortal;
  /** The settings without which a game cannot use it. */
  readonly needs: readonly string[];
  /** Where browsers go: always to the portal itself, wherever the service reaches it. */
  readonly authorizeUrl: (settings: PortalSettings) => string;
  readonly tokenUrl: (settings: PortalSettings) => string;
  readonly scope: (settings: PortalSettings) => string;
  /** Parameters beyond those of the standard. */
  readonly also?: Readonly<Record<string, string>>;
  /** The same where the code is redeemed. */
  readonly alsoRedeeming?: Readonly<Record<string, string>>;
  readonly clientId: (settings: PortalSettings) => string;
  readonly clientSecret: (settings: PortalSettings, app: App) => string | Promise<string>;
  /** How the secret is shown: `post` in the body, `basic` in the header, `query` in the address. */
  readonly authentication?: (settings: PortalSettings) => 'post' | 'basic' | 'query';
  /** Whom `iss` of the answer must name where it is there (RFC 9207). */
  readonly issuer?: (settings: PortalSettings) => string;
  readonly userAgent?: string;
  readonly isPerGame?: boolean;
  readonly identify: (asking: Asking, answer: TokenAnswer) => Promise<Identity>;
  readonly refusals: WebFlow['refusals'] & {
    /** The portal, or the person there, said no. */
    readonly denied: ErrorName;
    /** The browser brings no code, or one of somebody else. */
    readonly response: ErrorName;
    readonly unreachable: ErrorName;
    /** The code was not taken, or bought no token. */
    readonly token: ErrorName;
  };
}

/** How portals refuse that have no words of their own for it. */
export const USUAL = {
  notSetUp: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
  state: 'INVALID_CSRF_TOKEN',
  denied: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
  response: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
  token: 'UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS',
} as const satisfies Partial<CodeFlow['refusals']>;

/** Whether a game has said what it takes, and not that it does not want it. */
export const hasSaid =
  (needs: readonly string[]) =>
  (settings: PortalSettings): boolean =>
    textOf(settings, 'web') !== 'false' && needs.every((name) => settings[name] !== undefined);

export const codeFlow = (flow: CodeFlow): WebFlow => ({
  isSetUp: hasSaid(flow.needs),
  ...(flow.isPerGame && { isPerGame: true }),
  leave: (leaving) => authorizeAddress(flow, leaving),
  arrive: async (arriving) => {
    const answer = await redeem(flow, arriving, requireCode(flow, arriving));
    const { app, gameId, settings } = arriving;
    return flow.identify({ app, gameId, settings, credentials: {} }, answer);
  },
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
  const { app, settings, verifier, callback } = arriving;
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
  const { ok, body } = await askPlatform(
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
  if (!ok) throw new ApiError(flow.refusals.token);
  return body;
}

/** Name and password are form-encoded before they are put together (RFC 6749, section 2.3.1). */
const basic = (id: string, secret: string): string => {
  const encoded = [id, secret].map((text) => new URLSearchParams({ a: text }).toString().slice('a='.length));
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`;
};

/** The token that was bought, shown to the portal as a game would show it. */
export const shownAs =
  (verify: (asking: Asking) => Promise<Identity>, name: keyof Credentials, field: 'access_token' | 'id_token') =>
  (asking: Asking, answer: TokenAnswer): Promise<Identity> => {
    const token = stringOf(answer[field]);
    if (!token) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
    return verify({ ...asking, credentials: { [name]: token } });
  };
