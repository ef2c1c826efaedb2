import { ApiError } from '../../../platform/errors/catalogue.ts';
import { type Identity, type PortalSettings, textOf, type Verification } from '../identity.ts';
import { addressOf, form, idTextOf, objectOf, requestPlatform, stringOf } from '../platform-requests.ts';
import type { PortalDescription } from '../portal.ts';
import { DEFAULT_ERRORS, isConfigured } from '../web/code-flow.ts';
import { type Arriving, type Leaving, NotIdentifiedYet, type WebFlow } from '../web/flow.ts';

const GRAPH = 'https://graph.oculus.com';

/** Meta Quest and Rift: a nonce that the platform redeems once, for an id that is specific to this game. */
async function verifyOculus({ app, settings, credentials }: Verification): Promise<Identity> {
  const { device, nonce = '', user_id: userId = '', access_token: token = '' } = credentials;
  const kind = device === 'rift' ? 'rift' : 'quest';
  const appId = textOf(settings, `${kind}_app_id`);
  const secret = textOf(settings, `${kind}_app_secret`);
  if (!appId || !secret)
    throw new ApiError(kind === 'rift' ? 'OCULUS_RIFT_NO_SECRET_TICKET' : 'META_QUEST_NO_SECRET_TICKET');
  const validated = await requestPlatform(
    app,
    addressOf(app, 'oculus', `${GRAPH}/user_nonce_validate`),
    form({ access_token: `OC|${appId}|${secret}`, nonce, user_id: userId }),
    'META_QUEST_UNABLE_TO_GET_ACCOUNT_DATA',
  );
  if (!validated.ok || validated.body['is_valid'] !== true) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const { ok, body } = await requestPlatform(
    app,
    `${addressOf(app, 'oculus', `${GRAPH}/me`)}?fields=id,alias`,
    { headers: { authorization: `Bearer ${token}` } },
    'META_QUEST_UNABLE_TO_GET_ACCOUNT_DATA',
  );
  if (!ok || idTextOf(body['id']) !== userId) throw new ApiError('META_QUEST_UNABLE_TO_GET_ACCOUNT_DATA');
  return { portal: 'oculus', id: userId, displayName: stringOf(body['alias']), avatar: '' };
}

const SSO = 'https://auth.oculus.com/sso/';

/**
 * Meta’s single sign-on for the apps of an organisation. It has no `state` and accepts only registered redirect URIs;
 * its answer is a code in base64 in the fragment.
 */
const oculusFlow: WebFlow = {
  answersInFragment: true,
  hasNoState: true,
  isSetUp: (settings) => isConfigured(['organization_id'])(settings) && appOf(settings) !== undefined,
  leave: ({ settings, callback }) => {
    const address = new URL(SSO);
    address.searchParams.set('redirect_uri', callback);
    address.searchParams.set('organization_id', textOf(settings, 'organization_id')!);
    return address.href;
  },
  arrive: async (arriving) => {
    const answer = answerOf(arriving.fragment);
    if (!answer) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
    return whoIs(arriving, await redeem(arriving, answer));
  },
  resume: (leaving, held) => whoIs(leaving, held as Redeemed),
  refusals: DEFAULT_ERRORS,
};

/** The app whose ids identify users: the Quest app if there is one. Ids and nonces are specific to an app. */
function appOf(settings: PortalSettings): { id: string; secret: string } | undefined {
  for (const kind of ['quest', 'rift']) {
    const id = textOf(settings, `${kind}_app_id`);
    const secret = textOf(settings, `${kind}_app_secret`);
    if (id && secret) return { id, secret };
  }
  return undefined;
}

interface Answer {
  readonly code: string;
  readonly orgScopedId: string;
}

function answerOf(fragment: string): Answer | undefined {
  try {
    const text = Buffer.from(decodeURIComponent(fragment), 'base64').toString('utf8');
    const { code, org_scoped_id } = objectOf(JSON.parse(text));
    const answer = { code: stringOf(code), orgScopedId: idTextOf(org_scoped_id) };
    return answer.code && answer.orgScopedId ? answer : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof URIError) return undefined;
    throw error;
  }
}

interface Redeemed extends Answer {
  readonly token: string;
}

/** Only the organisation’s own apps can redeem a code, with their secrets. */
async function redeem({ app, settings }: Arriving, answer: Answer): Promise<Redeemed> {
  const { id, secret } = appOf(settings)!;
  const { ok, body } = await requestPlatform(
    app,
    addressOf(app, 'oculus', `${GRAPH}/sso_authorize_code`),
    form({ code: answer.code, access_token: `OC|${id}|${secret}`, org_scoped_id: answer.orgScopedId }),
    'META_QUEST_UNABLE_TO_GET_ACCOUNT_DATA',
  );
  const token = stringOf(body['oauth_token']);
  if (!ok || !token) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  return { ...answer, token };
}

/** The id is that of the app, as in games. A new token may be refused for some seconds. */
async function whoIs({ app }: Leaving, redeemed: Redeemed): Promise<Identity> {
  const { token, orgScopedId } = redeemed;
  const { ok, body } = await requestPlatform(
    app,
    `${addressOf(app, 'oculus', `${GRAPH}/me`)}?fields=id,alias,org_scoped_id`,
    { headers: { authorization: `Bearer ${token}` } },
    'META_QUEST_UNABLE_TO_GET_ACCOUNT_DATA',
  );
  if (!ok) throw new NotIdentifiedYet(redeemed);
  const id = idTextOf(body['id']);
  if (!id || idTextOf(body['org_scoped_id']) !== orgScopedId)
    throw new ApiError('META_QUEST_UNABLE_TO_GET_ACCOUNT_DATA');
  return { portal: 'oculus', id, displayName: stringOf(body['alias']), avatar: '' };
}

export const oculus: PortalDescription = {
  token: { verify: verifyOculus, needs: ['device', 'nonce', 'user_id', 'access_token'] },
  web: oculusFlow,
};
