import { ApiError } from '../../../platform/errors/catalogue.ts';
import { addressOf, objectOf, stringOf } from '../asking.ts';
import { type Asking, type Identity, listOf, textOf } from '../identity.ts';
import { verifyToken } from '../jwt.ts';
import { onceUntil } from './claims.ts';

const ISSUER = 'https://e0d67c509fb203858ebcb2fe3f88c2aa.baas.nintendo.com';

/** What is said of a token of Nintendo that does not hold, whoever it is for. */
export const NINTENDO_REFUSALS = {
  invalid: 'SWITCH_INVALID_TOKEN',
  early: 'SWITCH_INVALID_TOKEN_NOT_VALID_BEFORE',
  late: 'SWITCH_INVALID_TOKEN_NOT_VALID_AFTER',
  issuer: 'SWITCH_INVALID_TOKEN_ISSUER_NOT_RECOGNIZED',
  keys: 'SWITCH_UNABLE_TO_GET_JWK_SIGNATURE',
} as const;

/** Nintendo Switch: the ID token of a Nintendo Service Account. It names where its keys are (`jku`); that is ignored. */
export async function verifySwitch({ app, settings, credentials }: Asking): Promise<Identity> {
  const applications = listOf(settings, 'app_ids').map((each) => each.toLowerCase());
  if (applications.length === 0) throw new ApiError('SWITCH_APP_ID_NOT_CONFIGURED');
  const { id_token: token = '' } = credentials;
  const issuer = textOf(settings, 'issuer') ?? ISSUER;
  const keysUrl = textOf(settings, 'keys_url') ?? `${issuer}/1.0.0/certificates`;
  const claims = await verifyToken(app, token, {
    keysUrl: addressOf(app, 'nintendo', keysUrl),
    algorithms: ['RS256'],
    issuers: [issuer],
    claimsRequired: ['sub'],
    refusals: NINTENDO_REFUSALS,
  });
  const id = stringOf(claims.sub);
  if (!id) throw new ApiError('SWITCH_INVALID_TOKEN');
  if (!applications.includes(stringOf(objectOf(claims['nintendo'])['ai']).toLowerCase()))
    throw new ApiError('SWITCH_APP_ID_NOT_VALID');
  return { portal: 'nintendo', id, displayName: '', avatar: '', ticket: onceUntil(token, claims) };
}
