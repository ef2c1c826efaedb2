import { ApiError } from '../../../platform/errors/catalogue.ts';
import { addressOf, askPlatform, form, idTextOf, stringOf } from '../asking.ts';
import { type Asking, type Identity, textOf } from '../identity.ts';

const GRAPH = 'https://graph.oculus.com';

/** Meta Quest and Rift: a nonce that the platform redeems once, for an id that means something in this game alone. */
export async function verifyOculus({ app, settings, credentials }: Asking): Promise<Identity> {
  const { device, nonce = '', user_id: userId = '', access_token: token = '' } = credentials;
  const kind = device === 'rift' ? 'rift' : 'quest';
  const appId = textOf(settings, `${kind}_app_id`);
  const secret = textOf(settings, `${kind}_app_secret`);
  if (!appId || !secret)
    throw new ApiError(kind === 'rift' ? 'OCULUS_RIFT_NO_SECRET_TICKET' : 'META_QUEST_NO_SECRET_TICKET');
  const validated = await askPlatform(
    app,
    addressOf(app, 'oculus', `${GRAPH}/user_nonce_validate`),
    form({ access_token: `OC|${appId}|${secret}`, nonce, user_id: userId }),
    'META_QUEST_UNABLE_TO_GET_ACCOUNT_DATA',
  );
  if (!validated.ok || validated.body['is_valid'] !== true) throw new ApiError('UNABLE_TO_VERIFY_EXTERNAL_CREDENTIALS');
  const { ok, body } = await askPlatform(
    app,
    `${addressOf(app, 'oculus', `${GRAPH}/me`)}?fields=id,alias`,
    { headers: { authorization: `Bearer ${token}` } },
    'META_QUEST_UNABLE_TO_GET_ACCOUNT_DATA',
  );
  if (!ok || idTextOf(body['id']) !== userId) throw new ApiError('META_QUEST_UNABLE_TO_GET_ACCOUNT_DATA');
  return { portal: 'oculus', id: userId, displayName: stringOf(body['alias']), avatar: '' };
}
